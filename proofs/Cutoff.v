(* Cutoffs: n threads reach every thread state that any number of threads can reach. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive MSetPositive.
Require Import System Multiset Firing Index Packed Trace Closed Downward Views Basis Invariants Quotient Certificate.
Import ListNotations.

(* ---- what a cutoff says ---- *)
(* Reachable by a run in which never more than n threads exist; a step that would create more is not taken. *)
Inductive reachable_by (n : N) (sys : system) : config -> Prop :=
| by_start c : initial Any sys c -> (size (snd c) <= n)%N -> reachable_by n sys c
| by_step c d : reachable_by n sys c -> step Any sys c d -> (size (snd d) <= n)%N -> reachable_by n sys d.
(* The thread state (s, l) occurs in some configuration of a set. *)
Definition occurs (among : config -> Prop) (s l : positive) := exists c, among c /\ fst c = s /\ In l (snd c).
Definition is_cutoff (n : N) (sys : system) := forall s l, occurs (reachable Any sys) s l -> occurs (reachable_by n sys) s l.
Definition smallest_cutoff (n : N) (sys : system) := is_cutoff n sys /\ ~ is_cutoff (N.pred n) sys.

(* ---- the check ---- *)
Definition pairs := PM.t PS.t.
Definition has_pair (m : pairs) (s l : positive) : bool := match PM.find s m with Some r => PS.mem l r | None => false end.
Definition add_pair (s l : positive) (m : pairs) : pairs :=
  PM.add s (PS.add l (match PM.find s m with Some r => r | None => PS.empty end)) m.
Lemma has_add s l m s' l' : has_pair (add_pair s l m) s' l' = true <-> (s' = s /\ l' = l) \/ has_pair m s' l' = true.
Proof.
  unfold has_pair, add_pair. destruct (Pos.eq_dec s' s) as [->|N].
  - rewrite PM.gss, mem_add. destruct (PM.find s m); intuition; discriminate.
  - rewrite PM.gso by exact N. intuition congruence.
Qed.

Fixpoint check_runs (n : N) (sys : system) (ix : rule_index) (place : positive) (nodes : PM.t counted)
    (runs : list (option positive * option positive * counted)) : option (PM.t counted) :=
  match runs with
  | [] => Some nodes
  | (before, by_, c) :: t =>
    if N.leb (total (snd c)) n
       && match before with
          | None => initialb Any sys c
          | Some i => match PM.find i nodes with Some b => leads Any ix b by_ c | None => false end
          end
    then check_runs n sys ix (Pos.succ place) (PM.add place c nodes) t
    else None
  end.
Fixpoint collect_reached (nodes : PM.t counted) (l : list (positive * positive * positive)) (m : pairs) : option pairs :=
  match l with
  | [] => Some m
  | (s, x, i) :: t =>
    match PM.find i nodes with
    | Some c => if Pos.eqb (fst c) s && negb (N.eqb (many (snd c) x) 0) then collect_reached nodes t (add_pair s x m) else None
    | None => None
    end
  end.
Definition one (s l : positive) : counted := (s, some l 1).
Definition add_all (l : list (positive * positive)) (m : pairs) : pairs := fold_right (fun e => add_pair (fst e) (snd e)) m l.
(* Every thread state that the evidence holds is listed. *)
Definition rest_listed (sys : system) (rest : proof) (listed : pairs) : bool :=
  match rest with
  | Downward_ D => check_downward sys [] D
      && forallb (fun e => forallb (fun m => forallb (has_pair listed (fst e)) (support (fst m) ++ PS.elements (snd m))) (snd e)) (PM.elements D)
  | Invariants_ (Some V) {| of_all_runs := []; by_cases := [] |} _ => check_views sys V
      && forallb (fun e => forallb (has_pair listed (fst e)) (PS.elements (Views.states (snd e)))) (PM.elements V)
  | _ => false
  end.
Record cutoff := {
  most : N;
  runs : list (option positive * option positive * counted);
  reached : list (positive * positive * positive);
  rest : proof;
  excepted : list (list (positive * positive) * evidence);
  needed : option ((positive * positive) * list packed_config) }.
Definition is_safe (v : verdict) : bool := match v with Safe => true | _ => false end.
Definition check_needed (k : cutoff) (sys : system) (m : pairs) (w : (positive * positive) * list packed_config) : bool :=
  let few := N.pred (most k) in
  let ix := pack_set (snd w) in
  let tx := index_targets [one (fst (fst w)) (snd (fst w))] in
  has_pair m (fst (fst w)) (snd (fst w))
  && forallb (check_starts (Threads few) (number (snd w)) ix) (families sys)
  && check_forward Any (fun d => N.leb (packed_total d) few) sys (covers_one tx) (snd w) ix.
(* None: invalid. Some true: n is the smallest. *)
Definition check_cutoff (sys : system) (k : cutoff) : option bool :=
  match check_runs (most k) sys (index_rules (rules sys)) 1%positive (PM.empty _) (runs k) with
  | None => None
  | Some nodes =>
    match collect_reached nodes (reached k) (PM.empty _) with
    | None => None
    | Some m =>
      if forallb (fun e => is_safe (check Any sys (map (fun p => one (fst p) (snd p)) (fst e)) (snd e))) (excepted k)
         && rest_listed sys (rest k) (add_all (flat_map fst (excepted k)) m)
      then match needed k with
           | None => Some false
           | Some w => if check_needed k sys m w then Some true else None
           end
      else None
    end
  end.

(* ---- and why ---- *)
Definition sound_nodes n sys (nodes : PM.t counted) := forall i c, PM.find i nodes = Some c -> reachable_by n sys (written c).
Lemma check_runs_sound n sys runs : forall place nodes nodes', sound_nodes n sys nodes ->
  check_runs n sys (index_rules (rules sys)) place nodes runs = Some nodes' -> sound_nodes n sys nodes'.
Proof.
  induction runs as [|[[before by_] c] t IH]; simpl; intros place nodes nodes' S H; [injection H as <-; exact S|].
  destruct (N.leb (total (snd c)) n && _) eqn:E; [|discriminate]. apply andb_true_iff in E as [Le E]. apply N.leb_le in Le. rewrite total_size in Le.
  apply (IH _ _ _) in H; [exact H|]. intros i d F. destruct (Pos.eq_dec i place) as [->|N].
  - rewrite PM.gss in F. injection F as <-. destruct before as [j|].
    + destruct (PM.find j nodes) as [b|] eqn:G; [|discriminate]. apply by_step with (written b); [exact (S j b G) | exact (leads_step _ _ _ _ _ _ (incl_refl _) E) | exact Le].
    + apply by_start; [apply initialb_initial, E | exact Le].
  - rewrite PM.gso in F by exact N. exact (S i d F).
Qed.
Definition sound_pairs n sys (m : pairs) := forall s l, has_pair m s l = true -> occurs (reachable_by n sys) s l.
Lemma collect_reached_sound n sys nodes l : sound_nodes n sys nodes -> forall m m', sound_pairs n sys m ->
  collect_reached nodes l m = Some m' -> sound_pairs n sys m'.
Proof.
  intros S. induction l as [|[[s x] i] t IH]; simpl; intros m m' P H; [injection H as <-; exact P|].
  destruct (PM.find i nodes) as [c|] eqn:F; [|discriminate]. destruct (Pos.eqb (fst c) s && _) eqn:E; [|discriminate].
  apply (IH _ _) in H; [exact H|]. intros s' l' A. apply has_add in A as [[-> ->]|A]; [|exact (P s' l' A)].
  apply andb_true_iff in E as [E1 E2]. apply Pos.eqb_eq in E1. apply negb_true_iff, N.eqb_neq in E2.
  exists (written c). split; [exact (S i c F)|]. split; [exact E1|]. simpl. apply cnt_In. rewrite cnt_threads. lia.
Qed.
Lemma has_add_all l : forall m s x, has_pair (add_all l m) s x = true -> In (s, x) l \/ has_pair m s x = true.
Proof.
  induction l as [|[s0 x0] l IH]; simpl; intros m s x H; [auto|]. apply has_add in H as [[-> ->]|H]; [auto|]. apply IH in H. tauto.
Qed.
Lemma rest_listed_sound sys p m : rest_listed sys p m = true -> forall s l, occurs (reachable Any sys) s l -> has_pair m s l = true.
Proof.
  intros H s l (c & R & <- & I). destruct p as [D|D|[V|] [[|v vs] [|tr ts]] B|x]; try discriminate; simpl in H; apply andb_true_iff in H as [H1 H2]; rewrite forallb_forall in H2.
  - destruct (check_downward_inside Any sys [] D H1 c R) as (d & Id & Bd). unfold lookup in Id.
    destruct (PM.find (fst c) D) as [ds|] eqn:F; [|destruct Id]. apply PM.elements_correct in F. specialize (H2 _ F). simpl in H2.
    rewrite forallb_forall in H2. specialize (H2 d Id). rewrite forallb_forall in H2. apply H2, in_or_app.
    destruct (PS.mem l (snd d)) eqn:E; [right; apply elements_mem, E|]. left. apply support_In.
    rewrite below_iff in Bd. specialize (Bd l E). apply cnt_In in I. apply cnt_In. lia.
  - destruct (check_views_sound Any sys V H1 c R) as (g & F & [T _]). apply PM.elements_correct in F. specialize (H2 _ F). simpl in H2.
    rewrite forallb_forall in H2. rewrite Forall_forall in T. specialize (T l I). apply H2, elements_mem, states_mem, T.
Qed.
Lemma occurs_covers sys s l : occurs (reachable Any sys) s l -> forall ts, In (one s l) ts -> reaches Any sys ts.
Proof.
  intros (c & R & E & I) ts J. exists c, (one s l). split; [exact R|]. split; [exact J|]. split; [exact E|].
  apply in_split in I as (a & b & ->). exists (a ++ b). change (snd (one s l)) with (some l 1). rewrite (threads_some l 1). symmetry. exact (Permutation_middle a b l).
Qed.
Lemma check_needed_sound sys k m w : check_needed k sys m w = true ->
  has_pair m (fst (fst w)) (snd (fst w)) = true /\ ~ occurs (reachable_by (N.pred (most k)) sys) (fst (fst w)) (snd (fst w)).
Proof.
  destruct w as [[s l] D]. unfold check_needed. simpl fst. simpl snd. intros H. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  split; [exact H1|]. set (few := N.pred (most k)) in *.
  assert (K : forall c, reachable_by few sys c -> member D c).
  { induction 1 as [c I Le | c d R IH S Le].
    - apply (check_starts_sound (Threads few) (number D) sys); [exact H2| |simpl; apply N.leb_le; exact Le].
      destruct I as (f & extra & If & E & A & P & _). exists f, extra. repeat (split; [assumption|]). simpl. apply N.leb_le, Le.
    - eapply check_forward_step; eauto. intros b P. apply N.leb_le. rewrite packed_total_size, <- (size_perm _ _ P). exact Le. }
  intros (c & R & E & I). destruct (check_forward_avoids _ _ _ _ _ _ c H3 (K c R)) as (d & Pd & B).
  rewrite (covers_one_spec [one s l] c (one s l) d) in B; [discriminate | left; auto | | exact Pd].
  split; [exact E|]. apply in_split in I as (a & b & ->). exists (a ++ b). change (snd (one s l)) with (some l 1). rewrite (threads_some l 1). symmetry. exact (Permutation_middle a b l).
Qed.

Theorem check_cutoff_sound sys k : forall b, check_cutoff sys k = Some b ->
  is_cutoff (most k) sys /\ (b = true -> smallest_cutoff (most k) sys).
Proof.
  unfold check_cutoff. intros b H. destruct (check_runs _ _ _ _ _ _) as [nodes|] eqn:E1; [|discriminate].
  destruct (collect_reached _ _ _) as [m|] eqn:E2; [|discriminate].
  destruct (forallb _ (excepted k) && _) eqn:E3; [|discriminate]. apply andb_true_iff in E3 as [Ex Re].
  assert (S1 : sound_nodes (most k) sys nodes).
  { eapply check_runs_sound; [|exact E1]. intros i c F. rewrite PM.gempty in F. discriminate. }
  assert (S2 : sound_pairs (most k) sys m).
  { eapply collect_reached_sound; [exact S1 | |exact E2]. intros s l F. unfold has_pair in F. rewrite PM.gempty in F. discriminate. }
  assert (C : is_cutoff (most k) sys).
  { intros s l O. pose proof (rest_listed_sound _ _ _ Re s l O) as L. apply has_add_all in L as [L|L]; [|exact (S2 s l L)]. exfalso.
    apply in_flat_map in L as (e & Ie & L). rewrite forallb_forall in Ex. specialize (Ex e Ie). unfold is_safe in Ex.
    destruct (check Any sys _ (snd e)) eqn:V; try discriminate. apply check_sound in V. apply V.
    apply (occurs_covers sys s l O). apply in_map_iff. exists (s, l). auto. }
  split; [exact C|]. intros ->. split; [exact C|]. destruct (needed k) as [w|]; [|discriminate].
  destruct (check_needed k sys m w) eqn:W; [|discriminate]. apply check_needed_sound in W as [Rc No]. intros K. apply No. apply K.
  destruct (S2 _ _ Rc) as (c & R & E & I). exists c. split; [|auto]. clear - R. induction R; [apply reachable_start | eapply reachable_step]; eauto.
Qed.
Print Assumptions check_cutoff_sound.

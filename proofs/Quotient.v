(* Quotients: local states are taken for others, and shared states that are only passed through are left out. *)
Require Import List Bool Arith NArith ZArith PArith Lia Permutation.
Require Import FMapPositive MSetPositive.
Require Import System Property Multiset Firing Index Packed Trace Condition.
Import ListNotations.

(* ---- merging local states ---- *)
Definition merging := PM.t (option positive).
Definition merged_to (m : merging) (l : positive) : option positive := match PM.find l m with Some o => o | None => Some l end.
Definition merge_threads (m : merging) (ls : list positive) : list positive := present (map (merged_to m) ls).
Definition merge (m : merging) (b : bag) : bag :=
  fold_right (fun e acc => plus (at_option (merged_to m (fst e)) (snd e)) acc) no_threads (entries b).
Lemma merge_app m a b : merge_threads m (a ++ b) = merge_threads m a ++ merge_threads m b.
Proof. unfold merge_threads. rewrite map_app. apply present_app. Qed.
Lemma merge_perm m a b : Permutation a b -> Permutation (merge_threads m a) (merge_threads m b).
Proof. intros P. apply present_perm, Permutation_map, P. Qed.
Lemma merge_spec m b : Permutation (threads (merge m b)) (merge_threads m (threads b)).
Proof.
  unfold merge, threads at 2. rewrite entries_elements. induction (PM.elements b) as [|[x n] es IH]; [reflexivity|].
  change (listed ((x, n) :: es)) with (repeat x (N.to_nat n) ++ listed es).
  simpl fold_right. rewrite threads_plus, merge_app, IH, at_option_present. apply Permutation_app_tail.
  unfold merge_threads. replace (map (merged_to m) (repeat x (N.to_nat n))) with (repeat (merged_to m x) (N.to_nat n)); [auto|].
  induction (N.to_nat n); simpl; congruence.
Qed.
Lemma merge_In m ls l : Forall (fun x => In x ls) l -> Forall (fun x => In x (merge_threads m ls)) (merge_threads m l).
Proof.
  unfold merge_threads. rewrite !Forall_forall. intros F y I. apply present_In, in_map_iff in I as (x & E & I).
  apply present_In, in_map_iff. exists x. auto.
Qed.
Definition merge_config (m : merging) (c : config) : config := (fst c, merge_threads m (snd c)).
Definition merge_counted (m : merging) (c : counted) : counted := (fst c, merge m (snd c)).
Definition merge_family (m : merging) (f : family) : family :=
  {| at_shared := at_shared f; fixed := merge m (fixed f); any := merge_threads m (any f) |}.
Definition simple_rule (s t : positive) (taken arrived : bag) : rule :=
  {| src := s; dst := t; take := taken; put := arrived; spawn := no_threads; moves := PM.empty _ |}.
Definition merge_rule (m : merging) (r : rule) : rule := simple_rule (src r) (dst r) (merge m (take r)) (merge m (plus (put r) (spawn r))).

(* Steps of rules that move no bystander and create nothing. *)
Definition simple_step (r : rule) (c d : config) := fst c = src r /\ fst d = dst r /\
  exists rest, Permutation (snd c) (threads (take r) ++ rest) /\ Permutation (snd d) (threads (put r) ++ rest).
Lemma step_merge m sys c d : forallb stays (rules sys) = true -> step Any sys c d ->
  exists r, In r (rules sys) /\ simple_step (merge_rule m r) (merge_config m c) (merge_config m d).
Proof.
  intros H [r rest os created R F T P M C D _]. exists r. split; [exact R|]. rewrite forallb_forall in H.
  apply stays_moved in M; [|apply H, R]. subst os created. simpl in D. rewrite present_Some in D.
  split; [exact F|]. split; [exact T|]. exists (merge_threads m rest). simpl. rewrite !merge_spec, <- !merge_app. split; apply merge_perm.
  - exact P.
  - rewrite D, threads_plus, <- app_assoc. reflexivity.
Qed.

(* ---- joining steps ---- *)
Definition join (r t : rule) : rule :=
  simple_rule (src r) (dst t) (plus (take r) (minus (take t) (put r))) (plus (put t) (minus (put r) (take t))).
Lemma join_step r t c d e : simple_step r c d -> simple_step t d e -> simple_step (join r t) c e.
Proof.
  intros (A & B & R & C1 & C2) (A' & B' & T & D1 & D2). split; [auto|]. split; [auto|].
  rewrite perm_cnt in C1, C2, D1, D2.
  exists (without R (threads (minus (take t) (put r)))). simpl. rewrite !perm_cnt. split; intros x;
  specialize (C1 x); specialize (C2 x); specialize (D1 x); specialize (D2 x);
  rewrite cnt_app, cnt_without, (cnt_threads (plus _ _)), many_plus, cnt_minus, many_minus;
  rewrite !cnt_app, !cnt_threads in *; lia.
Qed.

Fixpoint collect {A B} (f : A -> option (list B)) (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | x :: t => match f x with None => None | Some a => match collect f t with None => None | Some b => Some (a ++ b) end end
  end.
Lemma collect_In {A B} (f : A -> option (list B)) l : forall out, collect f l = Some out ->
  forall x, In x l -> exists ys, f x = Some ys /\ incl ys out.
Proof.
  induction l as [|z l IH]; simpl; intros out H x I; [destruct I|].
  destruct (f z) as [a|] eqn:E; [|discriminate]. destruct (collect f l) as [b|]; [|discriminate]. injection H as <-.
  destruct I as [->|I].
  - exists a. split; [auto|]. apply incl_appl, incl_refl.
  - destruct (IH b eq_refl x I) as (ys & F & J). exists ys. split; [auto|]. apply incl_appr, J.
Qed.

Section Paths.
  Variables (rs : list rule) (kept : PS.t) (leaving : positive -> list rule).
  Hypothesis leaving_all : forall r, In r rs -> In r (leaving (src r)).
  (* All paths that begin with [done] and end in the first kept state; None if one has more than n further steps. *)
  Fixpoint extend (n : nat) (done : rule) : option (list rule) :=
    if PS.mem (dst done) kept then Some [done]
    else match n with O => None | S n => collect (fun r => extend n (join done r)) (leaving (dst done)) end.
  Definition paths (n : nat) : option (list rule) :=
    collect (fun r => if PS.mem (src r) kept then extend n r else Some []) rs.

  Variables (n : nat) (out : list rule) (start : config -> Prop).
  Hypothesis all_paths : paths n = Some out.
  Hypothesis start_kept : forall c, start c -> PS.mem (fst c) kept = true.
  Inductive run (rules : list rule) : config -> Prop :=
  | run_start c : start c -> run rules c
  | run_step c d r : run rules c -> In r rules -> simple_step r c d -> run rules d.

  (* c has been reached, or is on the way *)
  Definition placed (c : config) :=
    (PS.mem (fst c) kept = true /\ run out c) \/
    exists c0 done k l, run out c0 /\ simple_step done c0 c /\ PS.mem (fst c) kept = false /\ extend k done = Some l /\ incl l out.
  Lemma arrive c0 done k l d : run out c0 -> simple_step done c0 d -> extend k done = Some l -> incl l out -> placed d.
  Proof.
    intros R S E I. destruct (PS.mem (fst d) kept) eqn:K.
    - left. split; [auto|]. apply run_step with c0 done; auto. apply I.
      assert (X := S). destruct X as (_ & D & _). rewrite D in K. destruct k; simpl in E; rewrite K in E; injection E as <-; left; auto.
    - right. exists c0, done, k, l. auto.
  Qed.
  Lemma run_placed c : run rs c -> placed c.
  Proof.
    induction 1 as [c I | c d r R IH Ir S].
    - left. split; [apply start_kept; auto | constructor; auto].
    - destruct IH as [[K Rc] | (c0 & done & k & l & R0 & S0 & K & E & J)].
      + destruct (collect_In _ _ _ all_paths r Ir) as (ys & F & J). assert (X := S). destruct X as (A & _). rewrite <- A, K in F.
        apply (arrive c r n ys); auto.
      + assert (X := S0). destruct X as (_ & D & _). assert (Y := S). destruct Y as (A & _).
        destruct k; simpl in E; rewrite <- D, K in E; [discriminate|].
        destruct (collect_In _ _ _ E r) as (ys & F & J'); [rewrite A; auto|].
        apply (arrive c0 (join done r) k ys); auto; [eapply join_step; eauto | eapply incl_tran; eauto].
  Qed.
End Paths.

(* ---- rules that merging has made equal ---- *)
Definition shape := (positive * positive * packed * packed)%type.
Definition shape_of (r : rule) : shape := (src r, dst r, entries (take r), entries (put r)).
Fixpoint same_entries (a b : packed) : bool :=
  match a, b with
  | [], [] => true
  | (x, n) :: a, (y, k) :: b => Pos.eqb x y && N.eqb n k && same_entries a b
  | _, _ => false
  end.
Definition same_shape (a b : shape) : bool :=
  match a, b with (s, d, t, p), (s', d', t', p') => Pos.eqb s s' && Pos.eqb d d' && same_entries t t' && same_entries p p' end.
(* A number made of a rule, for speed only. *)
Definition shape_key (a : shape) : positive :=
  match a with (s, d, t, p) => fold_left (fun k (e : positive * N) => Pos.add (xO k) (fst e)) (t ++ p) (Pos.add (xO s) d) end.
Definition add_distinct (seen : PM.t (list shape) * list rule) (r : rule) : PM.t (list shape) * list rule :=
  let a := shape_of r in
  let k := shape_key a in
  let alike := lookup (fst seen) k in
  if existsb (same_shape a) alike then seen else (PM.add k (a :: alike) (fst seen), r :: snd seen).
Definition distinct (rs : list rule) : list rule := snd (fold_left add_distinct rs (PM.empty _, [])).

Lemma same_entries_eq a : forall b, same_entries a b = true -> a = b.
Proof.
  induction a as [|[x n] a IH]; intros [|[y k] b]; simpl; intros H; try discriminate; [reflexivity|].
  apply andb_true_iff in H as [H E]. apply andb_true_iff in H as [X Y]. apply Pos.eqb_eq in X. apply N.eqb_eq in Y. rewrite (IH b E). congruence.
Qed.
Lemma same_shape_eq a b : same_shape a b = true -> a = b.
Proof.
  destruct a as [[[s d] t] p], b as [[[s' d'] t'] p']. simpl. intros H. apply andb_true_iff in H as [H P]. apply andb_true_iff in H as [H T].
  apply andb_true_iff in H as [S D]. apply Pos.eqb_eq in S, D. apply same_entries_eq in T, P. congruence.
Qed.
Lemma distinct_shape rs r : In r rs -> exists r', In r' (distinct rs) /\ shape_of r' = shape_of r.
Proof.
  unfold distinct.
  assert (K : forall rs seen, (forall k a, In a (lookup (fst seen) k) -> exists r', In r' (snd seen) /\ shape_of r' = a) ->
    forall r, In r rs \/ In r (snd seen) -> exists r', In r' (snd (fold_left add_distinct rs seen)) /\ shape_of r' = shape_of r).
  { clear. induction rs as [|y rs IH]; intros seen Inv r I; simpl fold_left.
    - destruct I as [[]|I]. exists r. auto.
    - unfold add_distinct at 2. destruct (existsb _ _) eqn:E.
      + destruct I as [[<-|I]|I]; [|apply IH; auto|apply IH; auto].
        apply existsb_exists in E as (a & Ia & Sa). apply same_shape_eq in Sa. destruct (Inv _ a Ia) as (r' & Ir & Er). rewrite Sa, <- Er. apply IH; auto.
      + apply IH.
        * simpl. intros k a Ia. unfold lookup in Ia. destruct (Pos.eq_dec k (shape_key (shape_of y))) as [->|N].
          -- rewrite PM.gss in Ia. destruct Ia as [<-|Ia]; [exists y; auto|]. destruct (Inv _ a Ia) as (r' & Ir & Er). exists r'. auto.
          -- rewrite PM.gso in Ia by exact N. destruct (Inv k a Ia) as (r' & Ir & Er). exists r'. auto.
        * simpl in I |- *. tauto. }
  intros I. apply K; [|auto]. intros k a Ia. unfold lookup in Ia. simpl in Ia. rewrite PM.gempty in Ia. destruct Ia.
Qed.
Lemma shape_step r r' c d : shape_of r' = shape_of r -> simple_step r c d -> simple_step r' c d.
Proof.
  intros E (A & B & rest & P & Q). injection E as E1 E2 E3 E4. split; [congruence|]. split; [congruence|]. exists rest.
  rewrite <- (threads_entries (take r')), <- (threads_entries (put r')), E3, E4, !threads_entries. auto.
Qed.

(* ---- the check ---- *)
Definition no_spawn (r : rule) : bool := PM.is_empty (spawn r).
Definition check_quotient (sys : system) (targets : list counted) (m : merging) (kept : PS.t) (fuel : nat)
    (inner : system -> list counted -> bool) : bool :=
  let rs := distinct (map (merge_rule m) (rules sys)) in
  forallb stays (rules sys)
  && forallb (fun f => PS.mem (at_shared f) kept) (families sys) && forallb (fun t => PS.mem (fst t) kept) targets
  && match paths rs kept (lookup (group src rs)) fuel with
     | None => false
     | Some found => let out := distinct found in forallb stays out && forallb no_spawn out
         && inner {| rules := out; families := map (merge_family m) (families sys) |} (map (merge_counted m) targets)
     end.

Lemma no_spawn_threads r : no_spawn r = true -> threads (spawn r) = [].
Proof.
  intros E. unfold no_spawn in E. apply PM.is_empty_2 in E. unfold threads. destruct (PM.elements (spawn r)) as [|[x n] es] eqn:L; [reflexivity|].
  destruct (E x n). apply PM.find_2, PM.elements_complete. rewrite L. left; auto.
Qed.
(* What the system reaches, the quotient reaches, if the shared state is kept. *)
Lemma check_quotient_reachable sys targets m kept fuel inner c : check_quotient sys targets m kept fuel inner = true ->
  reachable Any sys c -> PS.mem (fst c) kept = true ->
  exists q, inner q (map (merge_counted m) targets) = true /\ reachable Any q (merge_config m c).
Proof.
  intros H R Kc. unfold check_quotient in H.
  apply andb_true_iff in H as [H H4]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  destruct (paths _ _ _ _) as [found|] eqn:W; [|discriminate]. set (out := distinct found) in *. set (rs := distinct (map _ _)) in *. cbv zeta in H4.
  apply andb_true_iff in H4 as [H4 H6]. apply andb_true_iff in H4 as [H4 H5].
  rewrite forallb_forall in H2, H4, H5.
  set (q := {| rules := out; families := map (merge_family m) (families sys) |}) in *.
  assert (Run : run (initial Any q) rs (merge_config m c)).
  { clear - R H1. induction R as [c I | c d R IH S].
    - constructor. destruct I as (f & extra & If & E & A & P & _). exists (merge_family m f), (merge_threads m extra).
      split; [apply in_map; auto|]. split; [auto|]. split; [apply merge_In; auto|].
      split; [|reflexivity]. simpl. rewrite merge_spec, <- merge_app. apply merge_perm, P.
    - destruct (step_merge m sys c d H1 S) as (r & Ir & Sr).
      destruct (distinct_shape _ _ (in_map (merge_rule m) _ _ Ir)) as (r' & Ir' & E). eapply run_step; [exact IH | exact Ir' | exact (shape_step _ _ _ _ E Sr)]. }
  assert (SK : forall c, initial Any q c -> PS.mem (fst c) kept = true).
  { intros c' (f & extra & If & E & _). apply in_map_iff in If as (f' & <- & If'). rewrite E. simpl. auto. }
  assert (All : forall r, In r rs -> In r (lookup (group src rs) (src r))).
  { intros r I. apply group_iff. auto. }
  exists q. split; [exact H6|].
  destruct (run_placed _ kept _ All fuel found _ W SK _ Run) as [[K Rq] | (c0 & done & k & l & _ & _ & K & _)]; [|simpl in K; congruence].
  clear - Rq H4 H5. induction Rq as [c' I | c' d r0 R IH Ir0 S]; [constructor; auto|].
  destruct (distinct_shape _ _ Ir0) as (r & Ir & E). destruct (shape_step _ _ _ _ E S) as (A & B & rest & P & D).
  apply reachable_step with c'; [auto|]. apply a_step with r rest (map Some rest) []; auto.
  - apply stays_moved; auto.
  - simpl. rewrite no_spawn_threads by auto. reflexivity.
  - simpl. rewrite present_Some. exact D.
Qed.
Theorem check_quotient_sound sys targets m kept fuel inner :
  (forall q ts, inner q ts = true -> ~ reaches Any q ts) ->
  check_quotient sys targets m kept fuel inner = true -> ~ reaches Any sys targets.
Proof.
  intros Inner H (c & t & R & It & C). assert (C' := C). destruct C' as [C1 [e C2]].
  destruct (check_quotient_reachable sys targets m kept fuel inner c H R) as (q & Hq & Rq).
  - unfold check_quotient in H. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [_ H]. rewrite forallb_forall in H.
    rewrite C1. exact (H t It).
  - apply (Inner q _ Hq). exists (merge_config m c), (merge_counted m t). split; [exact Rq|]. split; [apply in_map, It|].
    split; [exact C1|]. exists (merge_threads m e). simpl. rewrite merge_spec, <- merge_app. apply merge_perm, C2.
Qed.

(* ---- quotients that change no local state that a condition is about ---- *)
Fixpoint about (k : condition) : option (list positive) :=
  match k with
  | At_least terms _ => Some (map fst terms)
  | Dead | Live => None
  | All_of parts | Any_of parts => fold_right (fun p found => match about p, found with Some a, Some b => Some (a ++ b) | _, _ => None end) (Some []) parts
  end.
Definition unchanged (m : merging) (l : positive) : bool :=
  forallb (fun e => negb (Pos.eqb (fst e) l) && match snd e with Some x => negb (Pos.eqb x l) | None => true end) (PM.elements m).
Definition keeps_condition (m : merging) (k : condition) : bool := match about k with Some ls => forallb (unchanged m) ls | None => false end.

Lemma cnt_merge m l ls : unchanged m l = true -> cnt (merge_threads m ls) l = cnt ls l.
Proof.
  intros H. unfold unchanged in H. rewrite forallb_forall in H. unfold merge_threads, cnt. induction ls as [|x ls IH]; [reflexivity|]. simpl map.
  assert (K : merged_to m x = Some l <-> x = l).
  { unfold merged_to. destruct (PM.find x m) as [o|] eqn:F; [|split; congruence]. apply PM.elements_correct in F. specialize (H _ F). simpl in H.
    apply andb_true_iff in H as [A B]. apply negb_true_iff, Pos.eqb_neq in A. split; [|congruence]. intros ->.
    apply negb_true_iff, Pos.eqb_neq in B. congruence. }
  simpl count_occ. destruct (merged_to m x) as [y|]; simpl; [|destruct (Pos.eq_dec x l) as [E|]; [apply K in E; discriminate | exact IH]].
  destruct (Pos.eq_dec y l) as [->|N], (Pos.eq_dec x l) as [E|NE]; rewrite IH; auto; exfalso.
  - apply NE, K. reflexivity.
  - apply K in E. congruence.
Qed.
Lemma about_part parts ls p : fold_right (fun p found => match about p, found with Some a, Some b => Some (a ++ b) | _, _ => None end) (Some []) parts = Some ls ->
  In p parts -> exists a, about p = Some a /\ incl a ls.
Proof.
  revert ls. induction parts as [|q parts IH]; simpl; intros ls E I; [destruct I|]. destruct (about q) as [a|] eqn:A; [|discriminate].
  destruct (fold_right _ _ parts) as [b|]; [|discriminate]. injection E as <-. destruct I as [->|I].
  - exists a. split; [exact A | apply incl_appl, incl_refl].
  - destruct (IH b eq_refl I) as (a' & A' & J). exists a'. split; [exact A' | apply incl_appr, J].
Qed.
Lemma satisfies_merge m sys q c k : keeps_condition m k = true -> satisfies sys c k -> satisfies q (merge_config m c) k.
Proof.
  unfold keeps_condition. destruct (about k) as [ls|] eqn:A; [|discriminate]. rewrite forallb_forall. intros H. revert ls A H.
  induction k as [terms least | | | parts IH | parts IH] using condition_parts; intros ls A H S; try discriminate.
  - injection A as <-. cbn [satisfies merge_config snd] in *. replace (value_of terms (merge_threads m (snd c))) with (value_of terms (snd c)); [exact S|].
    clear S. unfold value_of. induction terms as [|[x k] terms IH]; [reflexivity|]. cbn [fold_right fst snd]. rewrite IH by (intros y I; apply H; right; exact I).
    pose proof (cnt_merge m x (snd c) (H x (or_introl eq_refl))) as E. unfold cnt in E. rewrite E. reflexivity.
  - rewrite satisfies_all in *. rewrite Forall_forall in *. intros p I. destruct (about_part _ _ _ A I) as (a & Ap & J).
    apply (IH p I a Ap); [intros x X; apply H, J, X | apply S, I].
  - rewrite satisfies_any in *. rewrite Exists_exists in *. rewrite Forall_forall in IH. destruct S as (p & I & S). exists p. split; [exact I|].
    destruct (about_part _ _ _ A I) as (a & Ap & J). apply (IH p I a Ap); [intros x X; apply H, J, X | exact S].
Qed.

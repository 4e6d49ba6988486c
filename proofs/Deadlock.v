(* Deadlocks: a run into one, a closed set without one, or views and vectors that rule out all of them. *)
Require Import List Bool Arith NArith ZArith PArith Lia Permutation.
Require Import FMapPositive MSetPositive.
Require Import System Property Multiset Firing Index Packed Trace Closed Downward Views Invariants.
Import ListNotations.

Local Arguments some : simpl never.

(* Local states that have not ended. *)
Definition keeps (p : positive) (o : option positive) : bool := match o with Some x => Pos.eqb x p | None => false end.
Definition movers (r : rule) : list positive :=
  support (take r) ++ flat_map (fun e => if forallb (keeps (fst e)) (snd e) then [] else [fst e]) (PM.elements (moves r)).
Definition moving (sys : system) : PS.t := fold_right PS.add PS.empty (flat_map movers (rules sys)).
Definition deadlocked (bd : bound) (ix : packed_index) (m : PS.t) (c : packed_config) : bool :=
  existsb (fun e => negb (N.eqb (snd e) 0) && PS.mem (fst e) m) (snd c) && stuck bd ix c.
Lemma keeps_spec p o : keeps p o = true <-> o = Some p.
Proof. destruct o as [x|]; simpl; [|split; discriminate]. rewrite Pos.eqb_eq. split; congruence. Qed.
Lemma moving_spec sys l : PS.mem l (moving sys) = false <-> ended sys l.
Proof.
  rewrite <- Bool.not_true_iff_false. unfold moving. rewrite mem_adds, in_flat_map. split.
  - intros H r Ir. split.
    + intros I. apply H. left. exists r. split; [exact Ir|]. apply in_or_app. left. apply support_In, I.
    + intros o I. apply keeps_spec, Bool.not_false_iff_true. intros K. apply H. left. exists r. split; [exact Ir|]. apply in_or_app. right.
      unfold fates in I. destruct (PM.find l (moves r)) as [os|] eqn:F.
      * apply in_flat_map. exists (l, os). split; [apply PM.elements_correct, F|]. simpl.
        destruct (forallb (keeps l) os) eqn:A; [|left; reflexivity]. rewrite forallb_forall in A. rewrite (A o I) in K. discriminate.
      * destruct I as [<-|[]]. simpl in K. rewrite Pos.eqb_refl in K. discriminate.
  - intros E [(r & Ir & I)|M]; [|rewrite PS.mem_spec in M; destruct (PS.empty_spec M)].
    destruct (E r Ir) as [E1 E2]. apply in_app_or in I as [I|I]; [apply E1, support_In, I|].
    apply in_flat_map in I as ([p os] & Ip & I). simpl in I. destruct (forallb (keeps p) os) eqn:A; [destruct I|]. destruct I as [->|[]].
    apply Bool.not_true_iff_false in A. apply A, forallb_forall. intros o Io. apply keeps_spec, E2. unfold fates.
    rewrite (PM.elements_complete _ _ _ Ip). exact Io.
Qed.
Lemma deadlocked_spec bd sys c c' : Permutation (snd c) (listed c') ->
  deadlocked bd (pack_rules (rules sys)) (moving sys) (fst c, c') = true <-> deadlock bd sys c.
Proof.
  intros P. unfold deadlocked, deadlock. rewrite andb_true_iff, (stuck_spec bd sys c c' P), existsb_exists. simpl snd. split.
  - intros [([l n] & I & H) S]. split; [exact S|]. apply andb_true_iff in H as [H M]. simpl in H, M.
    exists l. split.
    + apply (Permutation_in _ (Permutation_sym P)). apply in_flat_map. exists (l, n). split; [exact I|]. simpl.
      apply negb_true_iff, N.eqb_neq in H. destruct (N.to_nat n) eqn:Z; [lia | left; reflexivity].
    + intros E. apply moving_spec in E. congruence.
  - intros [S (l & I & E)]. split; [|exact S]. apply (Permutation_in _ P) in I. apply in_flat_map in I as ([x n] & I & R).
    assert (Z := R). apply repeat_spec in R. simpl in R, Z. subst x. exists (l, n). split; [exact I|]. simpl.
    apply andb_true_iff. split.
    + apply negb_true_iff, N.eqb_neq. intros ->. destruct Z.
    + apply Bool.not_false_iff_true. intros K. apply E, moving_spec, K.
Qed.

(* ---- runs and closed sets ---- *)
Definition check_deadlock_run (bd : bound) (sys : system) (start : counted) (later : taken_steps) : bool :=
  let last := ends start later in
  check_run bd sys start later && deadlocked bd (pack_rules (rules sys)) (moving sys) (fst last, entries (snd last)).
Lemma check_deadlock_run_sound bd sys start later : check_deadlock_run bd sys start later = true -> meets bd sys (deadlock bd sys).
Proof.
  intros H. apply andb_true_iff in H as [R H]. apply check_run_reachable in R. exists (written (ends start later)). split; [exact R|].
  apply (deadlocked_spec bd sys (written (ends start later)) (entries (snd (ends start later)))); [|exact H]. rewrite threads_entries. reflexivity.
Qed.
Definition check_deadlock_set (bd : bound) (sys : system) (D : list packed_config) : bool :=
  let ix := pack_rules (rules sys) in let m := moving sys in check_set bd sys (deadlocked bd ix m) D.
Lemma check_deadlock_set_sound bd sys D : check_deadlock_set bd sys D = true -> ~ meets bd sys (deadlock bd sys).
Proof.
  intros H (c & R & B). destruct (check_set_sound _ _ _ _ H c R) as (d & P & N). apply (deadlocked_spec bd sys c d P) in B. congruence.
Qed.

(* ---- views and vectors that may be negative ---- *)
Definition no_vanishing (V : views) (r : rule) : bool :=
  match PM.find (src r) V with
  | None => true
  | Some g => negb (together g (take r)) || stays r
      || forallb (fun b => forallb (fun o => match o with None => false | Some _ => true end) (fates r b)) (PS.elements (states g))
  end.
Definition check_signed (sys : system) (V : views) (v : vector) : bool :=
  forallb (fun f => forallb (fun l => Z.leb (weight (of_local v) l) 0) (any f)) (families sys)
  && forallb (check_vector_step V v 0) (rules sys)
  && (nonnegative v || forallb (no_vanishing V) (rules sys)).
(* The local states from which a thread moves by itself; None if something always happens. *)
Definition alone (from : list rule) : option PS.t :=
  fold_right (fun r found => match found, entries (take r) with
    | None, _ | _, [] => None
    | Some s, [(l, n)] => if N.eqb n 1 then Some (PS.add l s) else found
    | _, _ => found
    end) (Some PS.empty) from.
Definition check_stuck (sys : system) (m : PS.t) (vs : list vector) (from : list rule) (s : positive) (g : partners) : bool :=
  match alone from with
  | None => true
  | Some free =>
    let waiting := filter (fun l => negb (PS.mem l free)) (PS.elements (states g)) in
    forallb (fun l => negb (PS.mem l m)
      || existsb (fun v => exceeds sys v (s, some l 1)
           && forallb (fun o => negb (pair g l o) || Z.leb 0 (weight (of_local v) o)) waiting) vs) waiting
  end.
Definition check_deadlock_invariants (sys : system) (V : views) (vs : list vector) : bool :=
  let leaving := group src (rules sys) in
  let m := moving sys in
  forallb nonblocking (rules sys) && check_views sys V && forallb (check_signed sys V) vs
  && forallb (fun e => check_stuck sys m vs (lookup leaving (fst e)) (fst e) (snd e)) (PM.elements V).

Lemma nonblocking_step sys r c : forallb nonblocking (rules sys) = true -> In r (rules sys) -> fst c = src r ->
  sub (threads (take r)) (snd c) -> exists d, step Any sys c d.
Proof.
  intros N I F [rest P]. rewrite forallb_forall in N. destruct (nonblocking_moved r rest (N r I)) as [os M].
  exists (dst r, threads (put r) ++ threads (spawn r) ++ present os). apply a_step with r rest os (threads (spawn r)); auto.
Qed.
Lemma signed_step V v sys c d : forallb (fun e => symmetric (snd e)) (PM.elements V) = true -> check_signed sys V v = true -> step Any sys c d ->
  built V c -> (worth v d <= worth v c)%Z.
Proof.
  intros Sy H S (g & Fg & Tg). destruct S as [r rest os created R F T P M C D _]. simpl in C. subst created.
  apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [_ H2]. rewrite forallb_forall in H2. specialize (H2 r R).
  unfold check_vector_step in H2. rewrite <- F, Fg in H2. assert (Sg := views_symmetric _ _ _ Sy Fg).
  apply (Together_perm g Sg _ _ P) in Tg. assert (BI := fun b => bystanders_mem g (take r) rest b Tg).
  assert (Si := Tg). apply Together_app in Si as (Tt & [Sr _] & _). apply (together_iff g Sg) in Tt. rewrite Tt in H2.
  apply andb_true_iff in H2 as [H1 H2]. apply Z.leb_le in H1. unfold value, worth in *. simpl in H1. rewrite !sum_threads in H1.
  rewrite (list_sum_perm v _ _ D), (list_sum_perm v _ _ P), !list_sum_app. rewrite F, T in *.
  assert (X : (list_sum v (present os) <= list_sum v rest)%Z); [|lia].
  destruct (stays r) eqn:St; [apply stays_moved in M; [|exact St]; subst os; rewrite present_Some; lia|]. simpl in H2. rewrite forallb_forall in H2.
  assert (Va : nonnegative v = true \/ forall b, In b rest -> ~ In None (fates r b)).
  { apply orb_true_iff in H3 as [H3|H3]; [auto|]. right. intros b Ib In_. rewrite forallb_forall in H3. specialize (H3 r R).
    unfold no_vanishing in H3. rewrite Fg, Tt, St in H3. simpl in H3. rewrite forallb_forall in H3. rewrite Forall_forall in Sr.
    specialize (H3 b). rewrite elements_mem, states_mem in H3. specialize (H3 (Sr b Ib)). rewrite forallb_forall in H3. discriminate (H3 None In_). }
  clear - H2 M BI Va. induction M as [|a o rest os I M IH]; simpl; [lia|].
  assert (list_sum v (present os) <= list_sum v rest)%Z.
  { apply IH; [intros b Ib; apply BI; right; auto|]. destruct Va as [Va|Va]; [auto|]. right. intros b Ib. apply Va. right; exact Ib. }
  assert (Ba := BI a (or_introl eq_refl)). apply elements_mem in Ba. specialize (H2 a Ba). rewrite forallb_forall in H2.
  destruct o as [y|]; simpl.
  - apply present_In in I. specialize (H2 y I). lia.
  - destruct Va as [Va|Va]; [pose proof (nonnegative_weight v a Va); lia | destruct (Va a (or_introl eq_refl) I)].
Qed.
Lemma signed_reachable sys V v c : check_views sys V = true -> check_signed sys V v = true -> reachable Any sys c ->
  exists f, In f (families sys) /\ (worth v c <= value v (at_shared f, fixed f))%Z.
Proof.
  intros HV H R. assert (Sy : forallb (fun e => symmetric (snd e)) (PM.elements V) = true).
  { apply andb_true_iff in HV as [HV _]. apply andb_true_iff in HV. tauto. }
  induction R as [c I | c d R (f & If & IH) S].
  - destruct I as (f & extra & If & E & A & P & _). exists f. split; [auto|]. unfold value, worth; simpl.
    rewrite E, (list_sum_perm v _ _ P), list_sum_app, sum_threads. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H _].
    rewrite forallb_forall in H. specialize (H f If). rewrite forallb_forall in H.
    assert (list_sum v extra <= 0)%Z; [|lia]. clear - A H. induction extra as [|x extra IHx]; simpl; [lia|].
    inversion A; subst. specialize (H x H2) as Q. apply Z.leb_le in Q. specialize (IHx H3). lia.
  - exists f. split; [auto|]. pose proof (signed_step V v sys c d Sy H S (check_views_sound Any sys V HV c R)). lia.
Qed.
Lemma alone_spec from : match alone from with
  | None => exists r, In r from /\ threads (take r) = []
  | Some free => forall l, PS.mem l free = true -> exists r, In r from /\ threads (take r) = [l]
  end.
Proof.
  induction from as [|r from IH]; [intros l M; rewrite PS.mem_spec in M; destruct (PS.empty_spec M)|]. simpl alone. fold (alone from).
  destruct (alone from) as [free|]; [|destruct IH as (r' & I & E); exists r'; split; [right|]; assumption].
  assert (Old : forall l, PS.mem l free = true -> exists r', In r' (r :: from) /\ threads (take r') = [l]).
  { intros l M. destruct (IH l M) as (r' & I & E). exists r'. split; [right|]; assumption. }
  pose proof (threads_entries (take r)) as E. destruct (entries (take r)) as [|[l n] [|]].
  - exists r. split; [left|]; auto.
  - destruct (N.eqb_spec n 1) as [->|]; [|exact Old]. intros x M. apply mem_add in M as [->|M]; [|apply Old, M]. exists r. split; [left|]; auto.
  - exact Old.
Qed.
Lemma check_deadlock_invariants_sound sys V vs : check_deadlock_invariants sys V vs = true -> ~ meets Any sys (deadlock Any sys).
Proof.
  intros H (c & R & St & l & Il & E). apply andb_true_iff in H as [H H4]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  destruct (check_views_sound Any sys V H2 c R) as (g & Fg & Tg).
  assert (Sg : symmetric g = true).
  { apply andb_true_iff in H2 as [H2 _]. apply andb_true_iff in H2 as [H2 _]. exact (views_symmetric _ _ _ H2 Fg). }
  rewrite forallb_forall in H3, H4. apply PM.elements_correct in Fg. specialize (H4 _ Fg). simpl in H4. unfold check_stuck in H4.
  set (from := lookup (group src (rules sys)) (fst c)) in H4.
  assert (No : forall r, In r from -> ~ sub (threads (take r)) (snd c)).
  { intros r I S. apply group_iff in I as [I F]. destruct (nonblocking_step sys r c H1 I (eq_sym F) S) as [d D]. exact (St d D). }
  pose proof (alone_spec from) as A. destruct (alone from) as [free|].
  2: { destruct A as (r & I & T). apply (No r I). rewrite T. exists (snd c). reflexivity. }
  assert (W : forall x, In x (snd c) -> In x (filter (fun l => negb (PS.mem l free)) (PS.elements (states g)))).
  { intros x I. apply filter_In. split.
    - apply elements_mem, states_mem. destruct Tg as [Tg _]. rewrite Forall_forall in Tg. exact (Tg x I).
    - apply negb_true_iff, Bool.not_true_iff_false. intros M. destruct (A x M) as (r & Ir & T). apply (No r Ir). rewrite T.
      apply in_split in I as (a & b & ->). exists (a ++ b). symmetry. exact (Permutation_middle a b x). }
  set (waiting := filter _ _) in *. rewrite forallb_forall in H4. specialize (H4 l (W l Il)).
  apply orb_true_iff in H4 as [H4|H4]; [apply E, moving_spec; apply negb_true_iff, H4|].
  apply existsb_exists in H4 as (v & Iv & H4). apply andb_true_iff in H4 as [Ex Po]. rewrite forallb_forall in Po.
  destruct (signed_reachable sys V v c H2 (H3 v Iv) R) as (f & If & Le).
  unfold exceeds in Ex. rewrite forallb_forall in Ex. specialize (Ex f If). apply Z.ltb_lt in Ex.
  apply in_split in Il as (a & b & Sc). assert (P : Permutation (snd c) (l :: a ++ b)) by (rewrite Sc; symmetry; apply Permutation_middle).
  apply (Together_perm g Sg _ _ P) in Tg. destruct Tg as [_ Tg]. inversion Tg as [|x xs T1 T2]; subst. rewrite Forall_forall in T1.
  assert (Pos : (0 <= list_sum v (a ++ b))%Z).
  { assert (K : forall x, In x (a ++ b) -> (0 <= weight (of_local v) x)%Z).
    { intros x I. assert (J : In x (snd c)) by (apply (Permutation_in _ (Permutation_sym P)); right; exact I).
      specialize (Po x (W x J)). apply orb_true_iff in Po as [Po|Po]; [|apply Z.leb_le, Po]. rewrite (T1 x I) in Po. discriminate. }
    clear - K. induction (a ++ b) as [|x xs IH]; simpl; [lia|]. pose proof (K x (or_introl eq_refl)).
    assert (0 <= list_sum v xs)%Z by (apply IH; intros y I; apply K; right; exact I). lia. }
  unfold worth, value in *. rewrite (list_sum_perm v _ _ P) in Le. simpl list_sum in Le. simpl fst in Ex. simpl snd in Ex.
  rewrite (sum_threads v (some l 1)), (list_sum_perm v _ _ (threads_some l 1)) in Ex. simpl list_sum in Ex. simpl fst in Le. simpl snd in Le. lia.
Qed.

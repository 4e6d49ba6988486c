(* What a rule does, computed: all successors of a bag, and the smallest predecessors of what covers a bag. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive.
Require Import System Multiset.
Import ListNotations.

(* ---- lists of threads that choose ---- *)
Definition moved (r : rule) (rest : list positive) (os : list (option positive)) := Forall2 (fun p o => In o (fates r p)) rest os.
Lemma present_app a b : present (a ++ b) = present a ++ present b.
Proof. induction a as [|[x|] a IH]; simpl; congruence. Qed.
Lemma present_perm a b : Permutation a b -> Permutation (present a) (present b).
Proof.
  induction 1; simpl; auto.
  - destruct x; auto.
  - destruct x, y; auto. apply perm_swap.
  - etransitivity; eauto.
Qed.
Lemma present_In y os : In y (present os) <-> In (Some y) os.
Proof. induction os as [|[x|] os IH]; simpl; intuition congruence. Qed.
Lemma Forall2_perm {A B} (R : A -> B -> Prop) l l' : Permutation l l' -> forall os, Forall2 R l os ->
  exists os', Forall2 R l' os' /\ Permutation os os'.
Proof.
  induction 1; intros os F.
  - inversion F; subst. exists []. auto.
  - inversion F; subst. destruct (IHPermutation _ H4) as (os' & F' & P'). exists (y :: os'). split; [constructor|]; auto.
  - inversion F; subst. inversion H3; subst. eexists. split; [constructor; [|constructor]; eauto|]. apply perm_swap.
  - destruct (IHPermutation1 _ F) as (o1 & F1 & P1). destruct (IHPermutation2 _ F1) as (o2 & F2 & P2).
    exists o2. split; [auto|]. etransitivity; eauto.
Qed.
Lemma Forall2_repeat {A B} (R : A -> B -> Prop) a n os : Forall2 R (repeat a n) os <-> length os = n /\ Forall (R a) os.
Proof.
  revert os. induction n as [|n IH]; intros os; simpl.
  - split; [inversion 1; subst; auto|]. intros [L F]. destruct os; [constructor | discriminate].
  - split.
    + inversion 1; subst. apply IH in H4 as [L F]. simpl. auto.
    + intros [L F]. destruct os as [|o os]; [discriminate|]. inversion F; subst. constructor; [auto|]. apply IH. auto.
Qed.
Lemma moved_In r rest os : moved r rest os -> forall y, In y (present os) -> exists p, In p rest /\ In (Some y) (fates r p).
Proof.
  induction 1; simpl; [tauto|]. intros z I. destruct y as [m|].
  - destruct I as [<-|I]; [exists x; auto|]. destruct (IHForall2 z I) as (a & ? & ?). exists a; auto.
  - destruct (IHForall2 z I) as (a & ? & ?). exists a; auto.
Qed.
Definition stays (r : rule) : bool := PM.is_empty (moves r).
Lemma stays_fates r p : stays r = true -> fates r p = [Some p].
Proof.
  intros E. unfold fates, stays in *. apply PM.is_empty_2 in E. destruct (PM.find p (moves r)) as [v|] eqn:G; [|auto].
  apply PM.find_2 in G. destruct (E p v G).
Qed.
Lemma stays_moved r rest os : stays r = true -> moved r rest os <-> os = map Some rest.
Proof.
  intros E. split.
  - induction 1 as [|a o rest os I F IH]; simpl; [auto|]. rewrite (stays_fates r a E) in I. destruct I as [<-|[]]. congruence.
  - intros ->. induction rest; simpl; constructor; auto. rewrite stays_fates by exact E. left. auto.
Qed.
Lemma present_Some l : present (map Some l) = l.
Proof. induction l; simpl; congruence. Qed.

(* ---- all ways for n threads to choose among options ---- *)
Definition counts_to (n : N) : list N := map N.of_nat (seq 0 (S (N.to_nat n))).
Lemma counts_to_In n j : In j (counts_to n) <-> (j <= n)%N.
Proof.
  unfold counts_to. rewrite in_map_iff. split.
  - intros (k & <- & I). apply in_seq in I. lia.
  - intros H. exists (N.to_nat j). split; [lia|]. apply in_seq. lia.
Qed.
Definition at_option (o : option positive) (n : N) : bag := match o with Some x => some x n | None => no_threads end.
Lemma at_option_present o n : Permutation (threads (at_option o n)) (present (repeat o (N.to_nat n))).
Proof.
  destruct o as [x|]; simpl.
  - rewrite threads_some. induction (N.to_nat n); simpl; auto.
  - induction (N.to_nat n); simpl; auto.
Qed.
Fixpoint choose (options : list (option positive)) (n : N) : list bag :=
  match options with
  | [] => if N.eqb n 0 then [no_threads] else []
  | [o] => [at_option o n]
  | o :: t => flat_map (fun j => map (plus (at_option o j)) (choose t (n - j))) (counts_to n)
  end.
Lemma choose_cons o t n b : t <> [] -> In b (choose (o :: t) n) <->
  exists j b', (j <= n)%N /\ In b' (choose t (n - j)) /\ b = plus (at_option o j) b'.
Proof.
  intros T. destruct t as [|o' t]; [congruence|].
  change (choose (o :: o' :: t) n) with (flat_map (fun j => map (plus (at_option o j)) (choose (o' :: t) (n - j))) (counts_to n)).
  rewrite in_flat_map. split.
  - intros (j & J & I). apply in_map_iff in I as (b' & <- & I). exists j, b'. rewrite counts_to_In in J. auto.
  - intros (j & b' & J & I & ->). exists j. rewrite counts_to_In. split; [auto|]. apply in_map, I.
Qed.
Lemma choose_sound options : forall n b, In b (choose options n) ->
  exists os, length os = N.to_nat n /\ Forall (fun o => In o options) os /\ Permutation (threads b) (present os).
Proof.
  induction options as [|o t IH]; intros n b I.
  - simpl in I. destruct (N.eqb_spec n 0) as [->|]; [|destruct I]. destruct I as [<-|[]]. exists []. simpl. auto.
  - destruct t as [|o' t'].
    + destruct I as [<-|[]]. exists (repeat o (N.to_nat n)). rewrite repeat_length. split; [auto|]. split; [|apply at_option_present].
      apply Forall_forall. intros x J. apply repeat_spec in J. subst. left; auto.
    + set (t := o' :: t') in *. apply choose_cons in I as (j & b' & J & I & ->); [|discriminate].
      destruct (IH _ _ I) as (os & L & F & P). exists (repeat o (N.to_nat j) ++ os). split; [|split].
      * rewrite app_length, repeat_length. lia.
      * apply Forall_app. split.
        -- apply Forall_forall. intros x K. apply repeat_spec in K. subst. left; auto.
        -- eapply Forall_impl; [|exact F]. intros a K. right. exact K.
      * rewrite threads_plus, present_app, at_option_present, P. reflexivity.
Qed.
Lemma option_dec (a b : option positive) : {a = b} + {a <> b}.
Proof. decide equality. apply Pos.eq_dec. Qed.
Lemma partition_option o (os : list (option positive)) t : Forall (fun x => In x (o :: t)) os ->
  exists j os', Permutation os (repeat o j ++ os') /\ Forall (fun x => In x t) os'.
Proof.
  induction 1 as [|x os I F (j & os' & P & G)].
  - exists 0, []. simpl. auto.
  - destruct I as [<-|I].
    + exists (S j), os'. simpl. split; auto.
    + exists j, (x :: os'). split; [|auto]. rewrite P. apply Permutation_middle.
Qed.
Lemma choose_complete options : forall os, Forall (fun o => In o options) os ->
  exists b, In b (choose options (N.of_nat (length os))) /\ Permutation (threads b) (present os).
Proof.
  induction options as [|o t IH]; intros os F.
  - destruct os as [|x os]; [|inversion F; subst; simpl in *; tauto]. exists no_threads. simpl. auto.
  - destruct t as [|o' t'].
    + exists (at_option o (N.of_nat (length os))). split; [left; auto|].
      rewrite at_option_present, Nnat.Nat2N.id. replace (repeat o (length os)) with os; [auto|].
      induction F as [|x os I F E]; simpl; [auto|]. destruct I as [->|[]]. rewrite E at 1. reflexivity.
    + destruct (partition_option _ _ _ F) as (j & os' & P & G). set (t := o' :: t') in *. destruct (IH os' G) as (b & I & Q).
      pose proof (Permutation_length P) as L. rewrite app_length, repeat_length in L.
      exists (plus (at_option o (N.of_nat j)) b). split.
      * apply choose_cons; [discriminate|]. exists (N.of_nat j), b. split; [lia|]. split; [|auto].
        replace (N.of_nat (length os) - N.of_nat j)%N with (N.of_nat (length os')) by lia. exact I.
      * rewrite threads_plus, at_option_present, Nnat.Nat2N.id, Q, (present_perm _ _ P), present_app. reflexivity.
Qed.

(* ---- all ways for the threads of a bag to choose, each among its own options ---- *)
Fixpoint ways (options : positive -> list (option positive)) (entries : list (positive * N)) : list bag :=
  match entries with
  | [] => [no_threads]
  | (l, n) :: t => let later := ways options t in flat_map (fun w => map (plus w) later) (choose (options l) n)
  end.
Lemma ways_sound options entries : forall b, In b (ways options entries) ->
  exists os, Forall2 (fun p o => In o (options p)) (listed entries) os /\ Permutation (threads b) (present os).
Proof.
  induction entries as [|[l n] t IH]; intros b I.
  - destruct I as [<-|[]]. exists []. split; [constructor | reflexivity].
  - simpl in I. apply in_flat_map in I as (w & W & I). apply in_map_iff in I as (b' & <- & I).
    destruct (IH _ I) as (os & F & P). destruct (choose_sound _ _ _ W) as (os' & L & F' & P').
    exists (os' ++ os). simpl. split; [apply Forall2_app; [apply Forall2_repeat; auto | exact F]|].
    rewrite threads_plus, present_app, P, P'. reflexivity.
Qed.
Lemma ways_complete options entries : forall os, Forall2 (fun p o => In o (options p)) (listed entries) os ->
  exists b, In b (ways options entries) /\ Permutation (threads b) (present os).
Proof.
  induction entries as [|[l n] t IH]; intros os F; simpl in F.
  - inversion F; subst. exists no_threads. simpl. auto.
  - apply Forall2_app_inv_l in F as (o1 & o2 & F1 & F2 & ->). apply Forall2_repeat in F1 as [L F1].
    destruct (choose_complete _ _ F1) as (w & W & P). rewrite L, Nnat.N2Nat.id in W.
    destruct (IH _ F2) as (b & I & Q). exists (plus w b). split.
    + simpl. apply in_flat_map. exists w. split; [exact W|]. apply in_map, I.
    + rewrite threads_plus, present_app, P, Q. reflexivity.
Qed.

(* All that the bystanders [rest] of a rule may become. *)
Definition after (r : rule) (rest : bag) : list bag := if stays r then [rest] else ways (fates r) (PM.elements rest).
Lemma after_sound r rest b : In b (after r rest) -> exists os, moved r (threads rest) os /\ Permutation (threads b) (present os).
Proof.
  unfold after. destruct (stays r) eqn:E.
  - intros [<-|[]]. exists (map Some (threads rest)). split; [apply stays_moved; auto | rewrite present_Some; auto].
  - intros I. exact (ways_sound (fates r) (PM.elements rest) b I).
Qed.
Lemma after_complete r rest os : moved r (threads rest) os -> exists b, In b (after r rest) /\ Permutation (threads b) (present os).
Proof.
  unfold after. destruct (stays r) eqn:E.
  - intros M. apply stays_moved in M; [|exact E]. subst os. exists rest. rewrite present_Some. simpl. auto.
  - intros M. exact (ways_complete (fates r) (PM.elements rest) os M).
Qed.

(* ---- forward ---- *)
Definition fire (bd : bound) (r : rule) (c : bag) : list bag :=
  if leb (take r) c then
    let rest := minus c (take r) in
    let arrived := if within bd (total rest + (total (put r) + total (spawn r)))%N then plus (put r) (spawn r) else put r in
    filter (fun d => within bd (total d)) (map (plus arrived) (after r rest))
  else [].

Lemma size_app a b : size (a ++ b) = (size a + size b)%N.
Proof. unfold size. rewrite app_length. lia. Qed.
Lemma size_perm a b : Permutation a b -> size a = size b.
Proof. intros P. unfold size. rewrite (Permutation_length P). reflexivity. Qed.
Lemma rest_perm c r : leb (take r) c = true -> Permutation (threads c) (threads (take r) ++ threads (minus c (take r))).
Proof.
  intros H. apply leb_sub in H. rewrite sub_cnt in H. apply perm_cnt. intros x. specialize (H x). rewrite cnt_app, cnt_minus. lia.
Qed.
Lemma fire_sound bd sys r c c' d d' : In r (rules sys) -> fst c = src r -> fst d = dst r ->
  Permutation (snd c) (threads c') -> In d' (fire bd r c') -> Permutation (snd d) (threads d') -> step bd sys c d.
Proof.
  intros R F T Pc I Pd. unfold fire in I. destruct (leb (take r) c') eqn:S; [|destruct I].
  apply rest_perm in S. set (rest := minus c' (take r)) in *.
  apply filter_In in I as [I W]. apply in_map_iff in I as (b & <- & I).
  destruct (after_sound _ _ _ I) as (os & M & Pb).
  rewrite total_size, <- (size_perm _ _ Pd) in W.
  eapply a_step with (r := r) (rest := threads rest) (os := os); eauto.
  - rewrite Pc. exact S.
  - rewrite Pd, threads_plus, Pb, !total_size, <- !size_app. destruct (within bd (size (threads rest ++ _))); [rewrite threads_plus, <- app_assoc|]; reflexivity.
Qed.
Lemma fire_complete bd sys c c' d : Permutation (snd c) (threads c') -> step bd sys c d ->
  exists r d', In r (rules sys) /\ fst c = src r /\ fst d = dst r /\ In d' (fire bd r c') /\ Permutation (snd d) (threads d').
Proof.
  intros Pc [r rest os created R F T P M C D W]. rewrite Pc in P.
  assert (S : leb (take r) c' = true) by (apply leb_sub; exists rest; exact P).
  assert (Pr : Permutation rest (threads (minus c' (take r)))).
  { apply Permutation_app_inv_l with (threads (take r)). rewrite <- rest_perm by exact S. symmetry. exact P. }
  destruct (Forall2_perm _ _ _ Pr _ M) as (os' & M' & P').
  destruct (after_complete _ _ _ M') as (b & I & Pb).
  set (arrived := if within bd (total (minus c' (take r)) + (total (put r) + total (spawn r)))%N then plus (put r) (spawn r) else put r).
  assert (Pd : Permutation (snd d) (threads (plus arrived b))).
  { rewrite D, (present_perm _ _ P'), <- Pb, threads_plus. subst created arrived.
    rewrite !total_size, <- !size_app. rewrite (size_perm _ _ (Permutation_app_tail _ Pr)).
    match goal with |- context [within bd ?n] => destruct (within bd n) end; [rewrite threads_plus, <- app_assoc|]; reflexivity. }
  exists r, (plus arrived b). repeat (split; [auto; fail|]). split; [|exact Pd].
  unfold fire. rewrite S. apply filter_In. split; [apply in_map, I|].
  rewrite total_size, <- (size_perm _ _ Pd). exact W.
Qed.

(* A step at a bound is a step that may leave out what it creates. *)
Inductive loose_step (r : rule) (c d : config) : Prop :=
  a_loose_step rest os created :
    fst c = src r -> fst d = dst r -> Permutation (snd c) (threads (take r) ++ rest) -> moved r rest os ->
    sub created (threads (spawn r)) -> Permutation (snd d) (threads (put r) ++ created ++ present os) -> loose_step r c d.
Lemma step_loose bd sys c d : step bd sys c d -> exists r, In r (rules sys) /\ loose_step r c d.
Proof.
  intros [r rest os created R F T P M C D _]. exists r. split; [exact R|].
  apply a_loose_step with rest os created; auto.
  subst created. destruct within; [apply sub_refl | exists (threads (spawn r)); reflexivity].
Qed.
Lemma loose_below r c d : loose_step r c d -> exists rest os,
  fst c = src r /\ fst d = dst r /\ Permutation (snd c) (threads (take r) ++ rest) /\ moved r rest os /\
  sub (snd d) (threads (put r) ++ threads (spawn r) ++ present os).
Proof.
  intros [rest os created F T P M S D]. exists rest, os. repeat (split; [auto; fail|]).
  rewrite sub_cnt in *. rewrite perm_cnt in D. intros x. specialize (S x). specialize (D x). rewrite D, !cnt_app. lia.
Qed.

(* ---- backward ---- *)
Definition goes_to (l : positive) (o : option positive) : bool := match o with Some m => Pos.eqb l m | None => false end.
Definition back (r : rule) (l : positive) : list (option positive) :=
  (if PM.mem l (moves r) then [] else [Some l])
  ++ map (fun e => Some (fst e)) (filter (fun e => existsb (goes_to l) (snd e)) (PM.elements (moves r))).
Lemma back_In r l p : In (Some l) (fates r p) -> In (Some p) (back r l).
Proof.
  unfold fates, back. intros H. apply in_or_app. destruct (PM.find p (moves r)) as [os|] eqn:F.
  - right. apply PM.elements_correct in F. apply in_map_iff. exists (p, os). split; [auto|].
    apply filter_In. split; [exact F|]. simpl. apply existsb_exists. exists (Some l).
    split; [exact H|]. simpl. apply Pos.eqb_refl.
  - left. destruct H as [H|[]]. injection H as <-. rewrite PM.mem_find, F. left; reflexivity.
Qed.
Definition before (r : rule) (b : bag) : list bag := if stays r then [b] else ways (back r) (PM.elements b).
Definition predecessors (r : rule) (b : bag) : list bag :=
  map (plus (take r)) (before r (minus (minus b (put r)) (spawn r))).

Lemma present_from r : forall rest os x, moved r rest os -> sub x (present os) ->
  exists ws, Forall2 (fun l p => In (Some l) (fates r p)) x ws /\ sub ws rest.
Proof.
  induction rest as [|a rest IH]; intros os x H S; inversion H; subst; simpl in S.
  - destruct x as [|y x]; [exists []; split; [constructor | apply sub_refl] |].
    destruct (sub_In _ _ y S); left; reflexivity.
  - destruct y as [m|].
    + destruct (in_dec Pos.eq_dec m x) as [I|I].
      * apply in_split in I as (x1 & x2 & ->).
        assert (S' : sub (x1 ++ x2) (present l')).
        { rewrite sub_cnt in *. intros z. specialize (S z). rewrite cnt_app in *. unfold cnt in *. simpl in S. destruct (Pos.eq_dec m z); lia. }
        destruct (IH _ _ H4 S') as (ws & W & E).
        apply Forall2_app_inv_l in W as (w1 & w2 & W1 & W2 & ->).
        exists (w1 ++ a :: w2). split; [apply Forall2_app; [auto | constructor; auto]|].
        rewrite sub_cnt in *. intros z. specialize (E z). rewrite cnt_app in *. unfold cnt in *. simpl. destruct (Pos.eq_dec a z); lia.
      * assert (S' : sub x (present l')).
        { rewrite sub_cnt in *. intros z. specialize (S z). rewrite cnt_In in I. unfold cnt in *. simpl in S. destruct (Pos.eq_dec m z); subst; lia. }
        destruct (IH _ _ H4 S') as (ws & W & E). exists ws. split; [exact W|].
        apply sub_trans with rest; [exact E | apply (sub_app_r [a])].
    + destruct (IH _ _ H4 S) as (ws & W & E). exists ws. split; [exact W|].
      apply sub_trans with rest; [exact E | apply (sub_app_r [a])].
Qed.
Lemma predecessors_complete r c d b : loose_step r c d -> sub (threads b) (snd d) ->
  exists w, In w (predecessors r b) /\ sub (threads w) (snd c).
Proof.
  intros L B. apply loose_below in L as (rest & os & F & T & P & M & D).
  set (need := minus (minus b (put r)) (spawn r)).
  assert (B' : sub (threads need) (present os)).
  { rewrite sub_cnt in *. intros x. specialize (B x). specialize (D x). unfold need. rewrite !cnt_minus. rewrite !cnt_app in D. lia. }
  destruct (present_from _ _ _ _ M B') as (ws & W & E).
  assert (K : exists w, In w (before r need) /\ Permutation (threads w) ws).
  { unfold before. destruct (stays r) eqn:St.
    - exists need. split; [left; auto|]. clear -W St. induction W as [|l p ls ps I W IH]; [auto|].
      rewrite (stays_fates r p St) in I. destruct I as [I|[]]. injection I as ->. auto.
    - destruct (ways_complete (back r) (PM.elements need) (map Some ws)) as (w & I & Q).
      + clear -W. change (listed (PM.elements need)) with (threads need). induction W; simpl; constructor; auto using back_In.
      + exists w. rewrite present_Some in Q. auto. }
  destruct K as (w & I & Q). exists (plus (take r) w). split; [apply in_map, I|].
  rewrite sub_cnt in *. rewrite perm_cnt in P, Q. intros x. specialize (E x). specialize (P x). specialize (Q x).
  rewrite P, cnt_app, <- Q in *. rewrite !cnt_threads, many_plus in *. lia.
Qed.

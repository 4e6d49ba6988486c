(* Finite sets that are closed under steps. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive.
Require Import System Multiset Firing Index Packed.
Import ListNotations.

(* ---- initial configurations, listed ---- *)
(* Every bag over [any] in which l occurs at most [most l] times, and which has at most [room] threads. *)
Fixpoint extras (any : list positive) (most : positive -> N) (room : option N) : list bag :=
  match any with
  | [] => [no_threads]
  | x :: t => flat_map (fun j => map (plus (some x j)) (extras t most (option_map (fun n => N.sub n j) room)))
                (counts_to (match room with Some n => N.min n (most x) | None => most x end))
  end.
Lemma extras_complete any : forall most room extra, Forall (fun l => In l any) extra ->
  (forall l, (N.of_nat (cnt extra l) <= most l)%N) -> (match room with Some n => (size extra <= n)%N | None => True end) ->
  exists e, In e (extras any most room) /\ Permutation extra (threads e).
Proof.
  induction any as [|x t IH]; intros most room extra F Le Ro.
  - exists no_threads. split; [left; auto|]. destruct extra as [|y extra]; [auto|]. inversion F; subst. destruct H1.
  - assert (P : exists j rest, Permutation extra (repeat x j ++ rest) /\ Forall (fun l => In l t) rest).
    { clear -F. induction F as [|y extra I F (j & rest & P & G)]; [exists 0, []; simpl; auto|].
      destruct I as [<-|I]; [exists (S j), rest; simpl; auto|]. exists j, (y :: rest). split; [|auto]. rewrite P. apply Permutation_middle. }
    destruct P as (j & rest & P & G). rewrite (size_perm _ _ P) in Ro.
    assert (C : forall l, cnt extra l = (if Pos.eq_dec x l then j else 0) + cnt rest l).
    { rewrite perm_cnt in P. intros l. rewrite P, cnt_app, cnt_repeat. reflexivity. }
    assert (Sz : size (repeat x j ++ rest) = (N.of_nat j + size rest)%N) by (unfold size; rewrite app_length, repeat_length; lia).
    rewrite Sz in Ro.
    destruct (IH most (option_map (fun n => N.sub n (N.of_nat j)) room) rest G) as (e & I & Q).
    + intros l. specialize (Le l). rewrite C in Le. lia.
    + destruct room; simpl in *; [lia | auto].
    + exists (plus (some x (N.of_nat j)) e). split.
      * apply in_flat_map. exists (N.of_nat j). split; [|apply in_map, I]. apply counts_to_In.
        specialize (Le x). rewrite C in Le. destruct (Pos.eq_dec x x); [|congruence]. destruct room; lia.
      * rewrite threads_plus, threads_some, Nnat.Nat2N.id, P, Q. reflexivity.
Qed.
(* [None]: infinitely many. *)
Definition starts (bd : bound) (f : family) : option (list bag) :=
  let extra := nodup Pos.eq_dec (any f) in
  match extra, bd with
  | [], _ => Some [fixed f]
  | _, Any => None
  | _, Threads n => if N.leb (total (fixed f)) n
                    then let room := N.sub n (total (fixed f)) in Some (map (plus (fixed f)) (extras extra (fun _ => room) (Some room)))
                    else Some []
  | _, Tokens n => Some (map (plus (fixed f)) (extras extra (fun l => N.sub n (many (fixed f) l)) None))
  end.
Lemma starts_complete bd sys c : initial bd sys c -> forall l, (forall f, In f (families sys) -> starts bd f = Some (l f)) ->
  exists f e, In f (families sys) /\ fst c = at_shared f /\ In e (l f) /\ Permutation (snd c) (threads e).
Proof.
  intros (f & extra & If & E & A & P & W) l L. exists f. specialize (L f If). unfold starts in L.
  assert (A' : Forall (fun x => In x (nodup Pos.eq_dec (any f))) extra).
  { eapply Forall_impl; [|exact A]. intros x I. apply nodup_In, I. }
  destruct (nodup Pos.eq_dec (any f)) as [|x t] eqn:N.
  - injection L as <-. exists (fixed f). destruct extra; [|inversion A'; subst; simpl in *; tauto]. rewrite app_nil_r in P. simpl. auto.
  - pose proof (size_perm _ _ P) as Sz. rewrite size_app, <- total_size in Sz. destruct bd as [|n|n]; [discriminate| |].
    + simpl in W. rewrite Sz in W. apply N.leb_le in W. destruct (N.leb_spec (total (fixed f)) n); [|lia].
      injection L as <-. set (room := (n - total (fixed f))%N) in *.
      destruct (extras_complete (x :: t) (fun _ => room) (Some room) extra A') as (e & I & Q).
      * intros y. unfold room, size in *. pose proof (count_occ_bound Pos.eq_dec y extra). unfold cnt. lia.
      * unfold room in *. lia.
      * exists (plus (fixed f) e). repeat (split; [auto; fail|]). split; [apply in_map, I|]. rewrite P, threads_plus, Q. reflexivity.
    + injection L as <-. simpl in W.
      destruct (extras_complete (x :: t) (fun l => (n - many (fixed f) l)%N) None extra A') as (e & I & Q); [|auto|].
      * intros y. destruct (in_dec Pos.eq_dec y extra) as [J|J].
        -- rewrite Forall_forall in W. specialize (W y J). fold (cnt (snd c) y) in W. rewrite perm_cnt in P. rewrite P, cnt_app, cnt_threads in W. lia.
        -- rewrite cnt_In in J. lia.
      * exists (plus (fixed f) e). repeat (split; [auto; fail|]). split; [apply in_map, I|]. rewrite P, threads_plus, Q. reflexivity.
Qed.

(* ---- finite closed sets ---- *)
Definition number {A} (l : list A) : N := fold_left (fun n _ => N.succ n) l 0%N.
(* Whether more initial configurations than [known] differ in the number of one kind of thread alone: then they need not be listed. *)
Definition too_many (bd : bound) (known : N) (f : family) : bool :=
  existsb (fun l => match bd with
                    | Any => true
                    | Threads n => N.ltb known (N.sub n (total (fixed f)))
                    | Tokens n => N.ltb known (N.sub n (many (fixed f) l))
                    end) (any f).
(* Every initial configuration is in a set of [known] configurations. *)
Definition check_starts (bd : bound) (known : N) (ix : packed_sets) (f : family) : bool :=
  if too_many bd known f then false else
  match starts bd f with
  | None => false
  | Some l => forallb (fun c => negb (within bd (total c)) || holds ix (at_shared f) (entries c)) l
  end.
(* [counts d]: whether a step to d has to stay within the set. [bad c]: whether c is bad. *)
Definition check_forward (bd : bound) (counts : packed -> bool) (sys : system) (bad : packed_config -> bool) (D : list packed_config) (ix : packed_sets) : bool :=
  let rx := pack_rules (filter (fun r => PM.mem (src r) ix) (rules sys)) in
  forallb (fun c => negb (bad c)
       && all_rules rx (fun r => forallb (fun d => negb (counts d) || holds ix (dst (whole r)) d) (packed_fire bd r (snd c))) c) D.
Definition check_set (bd : bound) (sys : system) (bad : packed_config -> bool) (D : list packed_config) : bool :=
  let ix := pack_set D in
  forallb (check_starts bd (number D) ix) (families sys) && check_forward bd (fun _ => true) sys bad D ix.
(* What covers a target; targets by shared state. *)
Definition index_targets (targets : list counted) : PM.t (list packed) := PM.map (map (fun t => entries (snd t))) (group fst targets).
Definition covers_one (tx : PM.t (list packed)) (c : packed_config) : bool :=
  existsb (fun t => match drops t (snd c) with Some _ => true | None => false end) (lookup tx (fst c)).
Definition check_closed (bd : bound) (sys : system) (targets : list counted) (D : list packed_config) : bool :=
  let tx := index_targets targets in check_set bd sys (covers_one tx) D.

Lemma check_starts_sound bd known sys D c : forallb (check_starts bd known (pack_set D)) (families sys) = true ->
  initial bd sys c -> within bd (size (snd c)) = true -> member D c.
Proof.
  intros H I W. rewrite forallb_forall in H. set (l f := match starts bd f with Some l => l | None => [] end).
  destruct (starts_complete bd sys c I l) as (f & e & If & E & Ie & P).
  - intros f If. specialize (H f If). unfold check_starts, l in *. destruct (too_many bd known f); [discriminate|]. destruct (starts bd f); [auto | discriminate].
  - specialize (H f If). unfold check_starts, l in *. destruct (too_many bd known f); [discriminate|]. destruct (starts bd f) as [cs|]; [|discriminate].
    rewrite forallb_forall in H. specialize (H e Ie). rewrite total_size, <- (size_perm _ _ P), W in H. simpl in H.
    apply (holds_member D c (entries e)); [rewrite threads_entries; exact P | rewrite E; exact H].
Qed.
Lemma check_forward_step bd counts sys bad D c d : check_forward bd counts sys bad D (pack_set D) = true -> member D c -> step bd sys c d ->
  (forall b, Permutation (snd d) (listed b) -> counts b = true) -> member D d.
Proof.
  intros H (c' & Ic & Pc) S K. unfold check_forward in H. rewrite forallb_forall in H. specialize (H _ Ic). apply andb_true_iff in H as [_ H].
  destruct (packed_fire_complete bd sys c c' d Pc S) as (r & d' & Ir & F & T & Su & Id & Pd).
  rewrite F in Ic, H. apply all_rules_In with (r := r) in H; [|apply filter_In; split; [exact Ir | apply (pack_set_mem D _ _ Ic)] | exact Su].
  rewrite forallb_forall in H. specialize (H d' Id). rewrite (K d' Pd) in H. simpl in H.
  apply (holds_member D d d' Pd). rewrite T. exact H.
Qed.
Lemma check_forward_avoids bd counts sys bad D ix c : check_forward bd counts sys bad D ix = true -> member D c ->
  exists d, Permutation (snd c) (listed d) /\ bad (fst c, d) = false.
Proof.
  intros H (d & Id & Pd). unfold check_forward in H. rewrite forallb_forall in H. specialize (H _ Id). apply andb_true_iff in H as [H _].
  exists d. split; [exact Pd|]. apply negb_true_iff, H.
Qed.
Lemma initial_within bd sys c : initial bd sys c -> within bd (size (snd c)) = true.
Proof. intros (f & extra & _ & _ & _ & _ & W). destruct bd; auto. Qed.
(* Everything reachable is a member, and is not bad. *)
Lemma check_set_sound bd sys bad D : check_set bd sys bad D = true ->
  forall c, reachable bd sys c -> exists d, Permutation (snd c) (listed d) /\ bad (fst c, d) = false.
Proof.
  intros H c R. apply andb_true_iff in H as [H1 H2]. apply (check_forward_avoids _ _ _ _ _ _ _ H2).
  induction R as [c I | c d R IH S].
  - apply (check_starts_sound bd (number D) sys); auto. eapply initial_within; eauto.
  - eapply check_forward_step; eauto.
Qed.
Lemma covers_one_spec targets c t d : In t targets -> covers c t -> Permutation (snd c) (listed d) -> covers_one (index_targets targets) (fst c, d) = true.
Proof.
  intros It [C1 C2] P. unfold covers_one, index_targets. simpl fst. simpl snd. rewrite lookup_map. apply existsb_exists.
  exists (entries (snd t)). split; [apply in_map_iff; exists t; split; [auto|]; apply group_iff; auto|].
  pose proof (drops_spec (entries (snd t)) d) as K. destruct (drops (entries (snd t)) d); [auto|]. exfalso. apply K. rewrite threads_entries.
  destruct C2 as [e C2]. exists e. rewrite <- P. exact C2.
Qed.

Theorem check_closed_sound bd sys targets D : check_closed bd sys targets D = true -> ~ reaches bd sys targets.
Proof.
  intros H (c & t & R & It & C). destruct (check_set_sound _ _ _ _ H c R) as (d & P & B).
  rewrite (covers_one_spec targets c t d It C P) in B. discriminate.
Qed.

(* Finite sets that are closed under steps, and sets of configurations with "any number of" some threads. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive.
Require Import System Multiset Firing Index Trace.
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
Definition check_starts (bd : bound) (known : N) (ix : config_index) (f : family) : bool :=
  if too_many bd known f then false else
  match starts bd f with
  | None => false
  | Some l => forallb (fun c => negb (within bd (total c)) || holds ix (at_shared f, c)) l
  end.
(* [counts d]: whether a step to d has to stay within the set. *)
Definition check_forward (bd : bound) (counts : bag -> bool) (sys : system) (targets : list counted) (D : list counted) : bool :=
  let ix := index_configs D in
  let rx := index_rules (rules sys) in
  forallb (fun c => negb (existsb (coversb c) targets)
       && forallb (fun r => forallb (fun d => negb (counts d) || holds ix (dst r, d)) (fire bd r (snd c))) (rules_from rx (fst c) (snd c))) D.
Definition check_closed (bd : bound) (sys : system) (targets : list counted) (D : list counted) : bool :=
  forallb (check_starts bd (number D) (index_configs D)) (families sys) && check_forward bd (fun _ => true) sys targets D.

Lemma check_starts_sound bd known sys D c : forallb (check_starts bd known (index_configs D)) (families sys) = true ->
  initial bd sys c -> within bd (size (snd c)) = true -> member D c.
Proof.
  intros H I W. rewrite forallb_forall in H. set (l f := match starts bd f with Some l => l | None => [] end).
  destruct (starts_complete bd sys c I l) as (f & e & If & E & Ie & P).
  - intros f If. specialize (H f If). unfold check_starts, l in *. destruct (too_many bd known f); [discriminate|]. destruct (starts bd f); [auto | discriminate].
  - specialize (H f If). unfold check_starts, l in *. destruct (too_many bd known f); [discriminate|]. destruct (starts bd f) as [cs|]; [|discriminate].
    rewrite forallb_forall in H. specialize (H e Ie). rewrite total_size, <- (size_perm _ _ P), W in H. simpl in H.
    exact (holds_member D (at_shared f, e) c P E H).
Qed.
Lemma check_forward_step bd counts sys targets D c d : check_forward bd counts sys targets D = true -> member D c -> step bd sys c d ->
  (forall b, Permutation (snd d) (threads b) -> counts b = true) -> member D d.
Proof.
  intros H (c' & Ic & Pc) S K. unfold check_forward in H. rewrite forallb_forall in H. specialize (H _ Ic). apply andb_true_iff in H as [_ H].
  destruct (fire_complete bd sys c c' d Pc S) as (r & d' & Ir & F & T & Id & Pd).
  rewrite forallb_forall in H. simpl in H. rewrite F in H. specialize (H r).
  assert (Su : sub (threads (take r)) (threads c')).
  { unfold fire in Id. destruct (leb (take r) c') eqn:L; [apply leb_sub, L | destruct Id]. }
  specialize (H (rules_from_In _ _ _ Ir Su)). rewrite forallb_forall in H. specialize (H d' Id).
  rewrite (K d' Pd) in H. simpl in H. exact (holds_member D (dst r, d') d Pd T H).
Qed.
Lemma check_forward_avoids bd counts sys targets D c t : check_forward bd counts sys targets D = true -> member D c -> In t targets -> ~ covers c t.
Proof.
  intros H (d & Id & Pd) It [C1 C2]. unfold check_forward in H. rewrite forallb_forall in H. specialize (H _ Id). apply andb_true_iff in H as [H _].
  apply negb_true_iff, Bool.not_true_iff_false in H. apply H. apply existsb_exists. exists t. split; [auto|].
  apply coversb_covers. split; [exact C1|]. destruct C2 as [e C2]. exists e. simpl. rewrite <- Pd. exact C2.
Qed.
Lemma initial_within bd sys c : initial bd sys c -> within bd (size (snd c)) = true.
Proof. intros (f & extra & _ & _ & _ & _ & W). destruct bd; auto. Qed.

Theorem check_closed_sound bd sys targets D : check_closed bd sys targets D = true -> ~ reaches bd sys targets.
Proof.
  intros H (c & t & R & It & C). apply andb_true_iff in H as [H1 H2].
  assert (K : forall c, reachable bd sys c -> member D c).
  { clear c t R It C. intros c R. induction R as [c I | c d R IH S].
    - apply (check_starts_sound bd (number D) sys); auto. eapply initial_within; eauto.
    - eapply check_forward_step; eauto. }
  exact (check_forward_avoids _ _ _ _ _ _ _ H2 (K c R) It C).
Qed.

(* Signals: one waiting thread, if there is one, goes on. As rules: for each waiting state one that takes the waiting thread as well,
   and one that every waiting state blocks. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive.
Require Import System Multiset Firing.
Import ListNotations.
Local Arguments some : simpl never.
Local Arguments plus : simpl never.

(* A thread that waits at w goes on at v if (w, v) is listed. *)
Definition waiting := list (positive * positive).
Definition rule_of (s t : positive) (taken arrived : bag) (m : PM.t (list (option positive))) : rule :=
  {| src := s; dst := t; take := taken; put := arrived; spawn := no_threads; moves := m |}.
Definition blocked (ws : waiting) : PM.t (list (option positive)) := fold_right (fun e m => PM.add (fst e) [] m) (PM.empty _) ws.
Definition wake_one (s t : positive) (taken arrived : bag) (ws : waiting) : list rule :=
  rule_of s t taken arrived (blocked ws)
  :: map (fun e => rule_of s t (plus taken (some (fst e) 1)) (plus arrived (some (snd e) 1)) (PM.empty _)) ws.

Inductive signal (s t : positive) (taken arrived : bag) (ws : waiting) (c d : config) : Prop :=
| wakes w v rest : fst c = s -> fst d = t -> In (w, v) ws ->
    Permutation (snd c) (threads taken ++ w :: rest) -> Permutation (snd d) (threads arrived ++ v :: rest) -> signal s t taken arrived ws c d
| lost rest : fst c = s -> fst d = t -> (forall w v, In (w, v) ws -> ~ In w rest) ->
    Permutation (snd c) (threads taken ++ rest) -> Permutation (snd d) (threads arrived ++ rest) -> signal s t taken arrived ws c d.

Lemma blocked_find ws p : PM.find p (blocked ws) = if existsb (fun e => Pos.eqb p (fst e)) ws then Some [] else None.
Proof.
  induction ws as [|[w v] ws IH]; simpl; [apply PM.gempty|]. destruct (Pos.eqb_spec p w) as [->|N]; simpl; [apply PM.gss|].
  rewrite PM.gso by exact N. exact IH.
Qed.
Lemma plus_one b x rest : Permutation (threads (plus b (some x 1)) ++ rest) (threads b ++ x :: rest).
Proof. rewrite threads_plus, (threads_some x 1), <- app_assoc. reflexivity. Qed.

Theorem wake_one_signal s t taken arrived ws fams c d :
  step Any {| rules := wake_one s t taken arrived ws; families := fams |} c d <-> signal s t taken arrived ws c d.
Proof.
  split.
  - intros [r rest os created R F T P M C D _]. simpl in C, R. destruct R as [<-|R].
    + simpl in *. subst created. assert (K : forall w v, In (w, v) ws -> ~ In w rest).
      { intros w v I J. clear - M I J. induction M as [|a o rest os Ia M IH]; [destruct J|]. destruct J as [->|J]; [|auto].
        unfold fates in Ia. simpl in Ia. rewrite blocked_find in Ia. replace (existsb _ ws) with true in Ia; [destruct Ia|].
        symmetry. apply existsb_exists. exists (w, v). split; [exact I | apply Pos.eqb_refl]. }
      apply lost with rest; auto. rewrite D. simpl. apply Permutation_app_head.
      assert (E : os = map Some rest); [|rewrite E, present_Some; reflexivity].
      clear - M K. induction M as [|a o rest os Ia M IH]; [auto|]. simpl. f_equal; [|apply IH; intros w v I J; apply (K w v I); right; exact J].
      unfold fates in Ia. simpl in Ia. rewrite blocked_find in Ia. destruct (existsb _ ws) eqn:E; [destruct Ia|]. destruct Ia as [<-|[]]. reflexivity.
    + apply in_map_iff in R as ([w v] & <- & I). simpl in *. subst created. apply stays_moved in M; [|reflexivity]. subst os. rewrite present_Some in D.
      simpl in D. rewrite plus_one in P, D. apply wakes with w v rest; auto.
  - intros [w v rest F T I P D | rest F T K P D].
    + apply a_step with (rule_of s t (plus taken (some w 1)) (plus arrived (some v 1)) (PM.empty _)) rest (map Some rest) []; simpl; auto.
      * right. apply in_map_iff. exists (w, v). auto.
      * rewrite plus_one. exact P.
      * apply stays_moved; reflexivity.
      * rewrite present_Some, plus_one. exact D.
    + apply a_step with (rule_of s t taken arrived (blocked ws)) rest (map Some rest) []; simpl; auto.
      * clear - K. induction rest as [|a rest IH]; simpl; constructor; [|apply IH; intros w v I J; apply (K w v I); right; exact J].
        unfold fates. simpl. rewrite blocked_find. destruct (existsb _ ws) eqn:E; [|left; reflexivity].
        apply existsb_exists in E as ([w v] & I & E). apply Pos.eqb_eq in E. simpl in E. subst. destruct (K w v I). left; reflexivity.
      * rewrite present_Some. exact D.
Qed.
Print Assumptions wake_one_signal.

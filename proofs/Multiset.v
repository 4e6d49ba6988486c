(* Multisets: lists up to permutation in the specification, bags with binary counts in the checkers. *)
Require Import List Bool Arith NArith PArith Lia Permutation SetoidList.
Require Import FMapPositive.
Require Import System.
Import ListNotations.

(* ---- lists ---- *)
Definition cnt (l : list positive) (x : positive) : nat := count_occ Pos.eq_dec l x.
Definition sub (a c : list positive) := contains c a.
Lemma cnt_app a b x : cnt (a ++ b) x = cnt a x + cnt b x.
Proof. apply count_occ_app. Qed.
Lemma perm_cnt a b : Permutation a b <-> forall x, cnt a x = cnt b x.
Proof. apply (Permutation_count_occ Pos.eq_dec). Qed.
Lemma cnt_repeat y n x : cnt (repeat y n) x = if Pos.eq_dec y x then n else 0.
Proof. induction n; simpl; destruct (Pos.eq_dec y x); auto. Qed.
Lemma cnt_In l x : In x l <-> cnt l x > 0.
Proof. apply count_occ_In. Qed.

Fixpoint del (x : positive) (l : list positive) : list positive :=
  match l with [] => [] | y :: t => if Pos.eqb x y then t else y :: del x t end.
Fixpoint without (a b : list positive) : list positive := match b with [] => a | x :: t => without (del x a) t end.
Lemma cnt_del x l y : cnt (del x l) y = cnt l y - (if Pos.eq_dec x y then 1 else 0).
Proof.
  induction l as [|z l IH]; simpl; [destruct (Pos.eq_dec x y); auto|]. unfold cnt in *.
  destruct (Pos.eqb_spec x z); subst; simpl.
  - destruct (Pos.eq_dec z y); lia.
  - rewrite IH. destruct (Pos.eq_dec z y), (Pos.eq_dec x y); try congruence; lia.
Qed.
Lemma cnt_without b : forall a y, cnt (without a b) y = cnt a y - cnt b y.
Proof.
  induction b as [|x b IH]; intros a y; simpl; [lia|]. rewrite IH, cnt_del. unfold cnt. simpl. destruct (Pos.eq_dec x y); lia.
Qed.
Lemma sub_cnt a c : sub a c <-> forall x, cnt a x <= cnt c x.
Proof.
  split.
  - intros [e P] x. rewrite perm_cnt in P. rewrite P, cnt_app. lia.
  - intros H. exists (without c a). apply perm_cnt. intros x. rewrite cnt_app, cnt_without. specialize (H x). lia.
Qed.
Lemma sub_trans a b c : sub a b -> sub b c -> sub a c.
Proof. rewrite !sub_cnt. intros H G x. specialize (H x). specialize (G x). lia. Qed.
Lemma sub_In a c x : sub a c -> In x a -> In x c.
Proof. rewrite sub_cnt, !cnt_In. intros H. specialize (H x). lia. Qed.
Lemma sub_app_r a b : sub b (a ++ b).
Proof. apply sub_cnt. intros x. rewrite cnt_app. lia. Qed.
Lemma sub_app_l a b : sub a (a ++ b).
Proof. apply sub_cnt. intros x. rewrite cnt_app. lia. Qed.
Lemma sub_refl a : sub a a.
Proof. apply sub_cnt. auto. Qed.

(* ---- the entries of a map ---- *)
(* PM.elements computes each key from the root again; this one goes down with the key reversed. *)
Fixpoint turn (k j : positive) : positive := match k with xH => j | xO k => turn k (xO j) | xI k => turn k (xI j) end.
Fixpoint gather {A} (m : PM.t A) (k : positive) (found : list (positive * A)) : list (positive * A) :=
  match m with
  | PM.Leaf _ => found
  | PM.Node l o r =>
    let right := gather r (xI k) found in
    gather l (xO k) match o with None => right | Some x => (turn k xH, x) :: right end
  end.
Definition entries {A} (m : PM.t A) : list (positive * A) := gather m xH [].
Lemma turn_append k : forall j, turn k j = append (turn k xH) j.
Proof.
  induction k as [k IH|k IH|]; intros j; simpl; [| |reflexivity]; rewrite IH, (IH (_ xH)).
  - apply append_assoc_1.
  - apply append_assoc_0.
Qed.
Lemma gather_elements {A} (m : PM.t A) : forall k found, gather m k found = PM.xelements m (turn k xH) ++ found.
Proof.
  induction m as [|l IHl o r IHr]; intros k found; [reflexivity|]. simpl. rewrite IHl, IHr. simpl turn.
  rewrite (turn_append k (xO xH)), (turn_append k (xI xH)). destruct o; rewrite <- app_assoc; reflexivity.
Qed.
Lemma entries_elements {A} (m : PM.t A) : entries m = PM.elements m.
Proof. unfold entries. rewrite gather_elements, app_nil_r. reflexivity. Qed.

(* ---- bags ---- *)
Definition many (b : bag) (x : positive) : N := match PM.find x b with Some n => n | None => 0%N end.
Definition of_option (o : option N) : N := match o with Some n => n | None => 0%N end.
Definition nonzero (n : N) : option N := match n with N0 => None | _ => Some n end.
(* What only one of them has is shared, not copied. *)
Fixpoint plus (a b : bag) : bag :=
  match a, b with
  | PM.Leaf _, _ => b
  | _, PM.Leaf _ => a
  | PM.Node l o r, PM.Node l' o' r' =>
    PM.Node (plus l l') match o, o' with None, _ => o' | _, None => o | Some n, Some m => Some (N.add n m) end (plus r r')
  end.
Definition node (l : bag) (o : option N) (r : bag) : bag :=
  match l, o, r with PM.Leaf _, None, PM.Leaf _ => PM.Leaf _ | _, _, _ => PM.Node l o r end.
Fixpoint minus (a b : bag) : bag :=
  match a, b with
  | PM.Leaf _, _ => a
  | _, PM.Leaf _ => a
  | PM.Node l o r, PM.Node l' o' r' =>
    node (minus l l') match o, o' with Some n, Some m => nonzero (N.sub n m) | _, _ => o end (minus r r')
  end.
Definition no_threads : bag := PM.empty N.
Definition some (x : positive) (n : N) : bag := match n with N0 => no_threads | _ => PM.add x n no_threads end.
Definition leb (a c : bag) : bool := forallb (fun e => N.leb (snd e) (many c (fst e))) (entries a).
Definition eqb (a c : bag) : bool := leb a c && leb c a.
Definition total (b : bag) : N := fold_right (fun e n => N.add (snd e) n) 0%N (entries b).

Lemma many_node l o r x : many (PM.Node l o r) x = match x with xH => of_option o | xO x => many l x | xI x => many r x end.
Proof. unfold many. destruct x; reflexivity. Qed.
Lemma many_leaf x : many (PM.Leaf _) x = 0%N.
Proof. unfold many. destruct x; reflexivity. Qed.
Lemma many_plus a : forall b x, many (plus a b) x = (many a x + many b x)%N.
Proof.
  induction a as [|l IHl o r IHr]; intros [|l' o' r'] x; simpl plus; rewrite ?many_leaf, ?N.add_0_r; auto.
  rewrite !many_node. destruct x; auto. destruct o, o'; simpl; lia.
Qed.
Lemma node_same l o r x : many (node l o r) x = many (PM.Node l o r) x.
Proof. destruct l; [|reflexivity]. destruct o; [reflexivity|]. destruct r; [|reflexivity]. simpl. rewrite many_node, many_leaf. destruct x; rewrite ?many_leaf; reflexivity. Qed.
Lemma many_minus a : forall b x, many (minus a b) x = (many a x - many b x)%N.
Proof.
  induction a as [|l IHl o r IHr]; intros [|l' o' r'] x; simpl minus; rewrite ?many_leaf; try lia.
  rewrite node_same, !many_node. destruct x; auto. destruct o as [n|], o' as [m|]; simpl; try lia. unfold nonzero. destruct (n - m)%N eqn:E; simpl; lia.
Qed.
Lemma many_none x : many no_threads x = 0%N.
Proof. unfold many, no_threads. rewrite PM.gempty. reflexivity. Qed.
Lemma many_some y n x : many (some y n) x = if Pos.eq_dec y x then n else 0%N.
Proof.
  unfold some. destruct n as [|p]; [rewrite many_none; destruct (Pos.eq_dec y x); auto|].
  unfold many. destruct (Pos.eq_dec y x) as [->|N]; [rewrite PM.gss; auto|]. rewrite PM.gso by congruence. apply many_none.
Qed.

Lemma cnt_entries es x : NoDupA (@PM.eq_key N) es ->
  forall n, In (x, n) es -> cnt (listed es) x = N.to_nat n.
Proof.
  induction 1 as [|[y m] es NI ND IH]; intros n I; [destruct I|]. change (listed ((y, m) :: es)) with (repeat y (N.to_nat m) ++ listed es). rewrite cnt_app, cnt_repeat.
  destruct (Pos.eq_dec y x) as [->|NE].
  - assert (Z : cnt (listed es) x = 0).
    { destruct (cnt _ x) eqn:C; [auto|]. exfalso. apply NI.
      assert (J : In x (listed es)) by (apply cnt_In; lia).
      apply in_flat_map in J as ([z k] & J & R). apply repeat_spec in R. simpl in R. subst z.
      apply InA_alt. exists (x, k). split; [reflexivity | exact J]. }
    rewrite Z. destruct I as [E|I]; [injection E as ->; lia|]. exfalso. apply NI. apply InA_alt. exists (x, n). split; [reflexivity | exact I].
  - destruct I as [E|I]; [congruence|]. rewrite (IH n I). lia.
Qed.
Lemma cnt_threads b x : cnt (threads b) x = N.to_nat (many b x).
Proof.
  unfold threads, many. destruct (PM.find x b) as [n|] eqn:F.
  - apply cnt_entries; [apply PM.elements_3w | apply PM.elements_correct; exact F].
  - destruct (cnt _ x) eqn:C; [auto|]. exfalso.
    assert (J : In x (listed (PM.elements b))) by (apply cnt_In; lia).
    apply in_flat_map in J as ([z k] & J & R). apply repeat_spec in R. simpl in R. subst z.
    apply PM.elements_complete in J. congruence.
Qed.
Lemma leb_spec a c : leb a c = true <-> forall x, (many a x <= many c x)%N.
Proof.
  unfold leb. rewrite entries_elements, forallb_forall. split.
  - intros H x. unfold many at 1. destruct (PM.find x a) as [n|] eqn:F; [|lia].
    apply PM.elements_correct in F. apply H in F. apply N.leb_le in F. exact F.
  - intros H [x n] I. apply PM.elements_complete in I. specialize (H x). unfold many at 1 in H. rewrite I in H. apply N.leb_le. exact H.
Qed.
Lemma leb_sub a c : leb a c = true <-> sub (threads a) (threads c).
Proof.
  rewrite leb_spec, sub_cnt. split; intros H x; specialize (H x); rewrite !cnt_threads in *; lia.
Qed.
Lemma eqb_perm a c : eqb a c = true <-> Permutation (threads a) (threads c).
Proof.
  unfold eqb. rewrite andb_true_iff, !leb_spec, perm_cnt. split.
  - intros [H G] x. rewrite !cnt_threads. specialize (H x). specialize (G x). lia.
  - intros H. split; intros x; specialize (H x); rewrite !cnt_threads in H; lia.
Qed.
Lemma total_size b : total b = size (threads b).
Proof.
  unfold total, size, threads, listed. rewrite entries_elements. induction (PM.elements b) as [|[x n] es IH]; simpl; [auto|].
  rewrite app_length, repeat_length. simpl. rewrite IH. lia.
Qed.
Lemma threads_plus a b : Permutation (threads (plus a b)) (threads a ++ threads b).
Proof. apply perm_cnt. intros x. rewrite cnt_app, !cnt_threads, many_plus. lia. Qed.
Lemma cnt_minus a b x : cnt (threads (minus a b)) x = cnt (threads a) x - cnt (threads b) x.
Proof. rewrite !cnt_threads, many_minus. lia. Qed.
Lemma threads_none : threads no_threads = [].
Proof. reflexivity. Qed.
Lemma threads_some x n : Permutation (threads (some x n)) (repeat x (N.to_nat n)).
Proof. apply perm_cnt. intros y. rewrite cnt_threads, many_some, cnt_repeat. destruct (Pos.eq_dec x y); lia. Qed.
(* the distinct local states of a bag *)
Definition support (b : bag) : list positive := map fst (filter (fun e => negb (N.eqb (snd e) 0)) (entries b)).
Lemma support_In b x : In x (support b) <-> In x (threads b).
Proof.
  rewrite (cnt_In (threads b)), cnt_threads. unfold support, many. rewrite entries_elements. split.
  - intros I. apply in_map_iff in I as ([y n] & E & I). simpl in E. subst y. apply filter_In in I as [I J].
    apply PM.elements_complete in I. rewrite I. simpl in J. apply negb_true_iff, N.eqb_neq in J. lia.
  - intros H. destruct (PM.find x b) as [n|] eqn:F; [|simpl in H; lia]. apply PM.elements_correct in F.
    apply in_map_iff. exists (x, n). split; [auto|]. apply filter_In. split; [exact F|]. simpl. apply negb_true_iff, N.eqb_neq. lia.
Qed.
(* every list is a bag *)
Fixpoint of_list (l : list positive) : bag := match l with [] => no_threads | x :: t => plus (some x 1) (of_list t) end.
Lemma threads_of_list l : Permutation (threads (of_list l)) l.
Proof.
  induction l as [|x l IH]; [reflexivity|]. change (of_list (x :: l)) with (plus (some x 1) (of_list l)). rewrite threads_plus, threads_some, IH. reflexivity.
Qed.

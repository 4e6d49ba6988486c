(* Indexes. A checker finds its candidates in them; what is found is compared, and what must not be missed is proved to be found. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive.
Require Import System Multiset.
Import ListNotations.

Definition lookup {A} (m : PM.t (list A)) (k : positive) : list A := match PM.find k m with Some l => l | None => [] end.
Definition push {A} (k : positive) (x : A) (m : PM.t (list A)) : PM.t (list A) := PM.add k (x :: lookup m k) m.
Definition group {A} (key : A -> positive) (l : list A) : PM.t (list A) := fold_right (fun x => push (key x) x) (PM.empty _) l.
Lemma group_iff {A} (key : A -> positive) l k x : In x (lookup (group key l) k) <-> In x l /\ key x = k.
Proof.
  induction l as [|y l IH]; simpl.
  - unfold lookup. rewrite PM.gempty. simpl. tauto.
  - unfold push, lookup at 1. destruct (Pos.eq_dec k (key y)) as [->|N].
    + rewrite PM.gss. simpl. rewrite IH. intuition congruence.
    + rewrite PM.gso by exact N. fold (lookup (group key l) k). rewrite IH. intuition congruence.
Qed.

Lemma find_map {A B} (f : A -> B) m k : PM.find k (PM.map f m) = option_map f (PM.find k m).
Proof. apply (PM.gmapi (fun _ => f)). Qed.

(* Rules by the shared state they leave, and then by the local state that leads. *)
(* the one with the least number leads *)
Fixpoint least (l : list positive) : option positive :=
  match l with [] => None | x :: t => match least t with None => Some x | Some y => Some (Pos.min x y) end end.
Lemma least_In l x : least l = Some x -> In x l.
Proof.
  revert x. induction l as [|y l IH]; simpl; [discriminate|]. intros x E. destruct (least l) as [z|]; injection E as <-; [|auto].
  destruct (Pos.min_dec y z) as [->| ->]; auto.
Qed.
Definition leader (r : rule) : option positive := least (support (take r)).
Definition leader_key (o : option positive) : positive := match o with None => 1 | Some l => Pos.succ l end%positive.
Definition leads_key (r : rule) : positive := leader_key (leader r).
Definition rule_index := PM.t (PM.t (list rule)).
Definition index_rules (rs : list rule) : rule_index := PM.map (group leads_key) (group src rs).
Definition rules_from (ix : rule_index) (s : positive) (c : bag) : list rule :=
  match PM.find s ix with
  | None => []
  | Some m => lookup m 1%positive ++ flat_map (fun l => lookup m (Pos.succ l)) (support c)
  end.
Definition rules_led (ix : rule_index) (s : positive) (by_ : option positive) : list rule :=
  match PM.find s ix with None => [] | Some m => lookup m (leader_key by_) end.
Lemma rules_led_In rs s by_ r : In r (rules_led (index_rules rs) s by_) -> In r rs.
Proof.
  unfold rules_led, index_rules. rewrite find_map. destruct (PM.find s (group src rs)) as [l|] eqn:F; simpl; [|tauto].
  intros I. apply group_iff in I as [I _].
  assert (J : In r (lookup (group src rs) s)) by (unfold lookup; rewrite F; exact I). apply group_iff in J. tauto.
Qed.
Lemma rules_from_In rs r c : In r rs -> sub (threads (take r)) (threads c) -> In r (rules_from (index_rules rs) (src r) c).
Proof.
  intros I S. unfold rules_from, index_rules.
  assert (J : In r (lookup (group src rs) (src r))) by (apply group_iff; auto).
  unfold lookup in J.  destruct (PM.find (src r) (group src rs)) as [l|] eqn:F; [|destruct J].
  rewrite find_map, F. simpl. apply in_or_app. destruct (leader r) as [x|] eqn:E.
  - right. apply in_flat_map. exists x. split.
    + apply support_In. apply (sub_In _ _ _ S). apply support_In. apply least_In, E.
    + apply group_iff. split; [exact J|]. unfold leads_key. rewrite E. auto.
  - left. apply group_iff. split; [exact J|]. unfold leads_key. rewrite E. auto.
Qed.

(* A number made of the threads of a bag, for speed only. *)
Definition bag_key (b : bag) : positive :=
  fold_left (fun k e => match snd e with N0 => k | Npos n => (xO k + (fst e + n))%positive end) (entries b) 1%positive.

(* Conditions on numbers of threads: a run that ends where one holds, a closed set without such a configuration. *)
Require Import List Bool Arith NArith ZArith PArith Lia Permutation.
Require Import FMapPositive.
Require Import System Property Multiset Firing Index Packed Trace Closed.
Import ListNotations.

Section Induction.
  Variable P : condition -> Prop.
  Hypothesis at_least : forall terms least, P (At_least terms least).
  Hypothesis dead : P Dead.
  Hypothesis live : P Live.
  Hypothesis all_of : forall parts, Forall P parts -> P (All_of parts).
  Hypothesis any_of : forall parts, Forall P parts -> P (Any_of parts).
  Fixpoint condition_parts (k : condition) : P k :=
    let each := fix each ps : Forall P ps := match ps with [] => Forall_nil _ | p :: t => Forall_cons _ (condition_parts p) (each t) end in
    match k with
    | At_least terms least => at_least terms least
    | Dead => dead
    | Live => live
    | All_of parts => all_of parts (each parts)
    | Any_of parts => any_of parts (each parts)
    end.
End Induction.
Lemma satisfies_all sys c parts : satisfies sys c (All_of parts) <-> Forall (satisfies sys c) parts.
Proof.
  simpl. induction parts as [|p parts IH]; simpl; [split; auto|]. rewrite IH. split; [intros [H G]; constructor; auto | intros H; inversion H; auto].
Qed.
Lemma satisfies_any sys c parts : satisfies sys c (Any_of parts) <-> Exists (satisfies sys c) parts.
Proof.
  simpl. induction parts as [|p parts IH]; simpl; [split; [tauto | intros H; inversion H]|].
  rewrite IH. split; [intros [H|H]; [left | right]; exact H | intros H; inversion H; auto].
Qed.

Fixpoint packed_many (c : packed) (x : positive) : N :=
  match c with [] => 0%N | (y, n) :: t => if Pos.eqb x y then (n + packed_many t x)%N else packed_many t x end.
Definition packed_value (terms : list (positive * Z)) (c : packed) : Z :=
  fold_right (fun e n => (snd e * Z.of_N (packed_many c (fst e)) + n)%Z) 0%Z terms.
Fixpoint satisfied (ix : packed_index) (c : packed_config) (k : condition) : bool :=
  match k with
  | At_least terms least => Z.leb least (packed_value terms (snd c))
  | Dead => stuck Any ix c
  | Live => negb (stuck Any ix c)
  | All_of parts => forallb (satisfied ix c) parts
  | Any_of parts => existsb (satisfied ix c) parts
  end.
Lemma packed_many_cnt c x : N.to_nat (packed_many c x) = cnt (listed c) x.
Proof.
  induction c as [|[y n] c IH]; [reflexivity|]. simpl packed_many. rewrite cnt_listed, <- IH.
  destruct (Pos.eqb_spec x y), (Pos.eq_dec y x); subst; try congruence; lia.
Qed.
Lemma packed_value_spec terms c c' : Permutation c (listed c') -> packed_value terms c' = value_of terms c.
Proof.
  intros P. unfold packed_value, value_of. induction terms as [|[x k] terms IH]; [reflexivity|]. simpl fold_right. rewrite IH. clear IH. simpl fst. simpl snd.
  rewrite <- (N2Nat.id (packed_many c' x)), nat_N_Z, packed_many_cnt. rewrite perm_cnt in P. unfold cnt in P. unfold cnt. rewrite P. reflexivity.
Qed.
Lemma forallb_false {A} (f : A -> bool) l : forallb f l = false -> exists x, In x l /\ f x = false.
Proof.
  induction l as [|x l IH]; simpl; [discriminate|]. destruct (f x) eqn:E; [|intros _; exists x; auto].
  intros H. destruct (IH H) as (y & I & F). exists y. auto.
Qed.
Lemma stuck_false sys c c' : Permutation (snd c) (listed c') -> stuck Any (pack_rules (rules sys)) (fst c, c') = false -> exists d, step Any sys c d.
Proof.
  intros P H. unfold stuck, all_rules, pack_rules, index_with, index_rules in H. simpl fst in H. simpl snd in H. rewrite !find_map in H.
  destruct (PM.find (fst c) (group src (rules sys))) as [l|] eqn:F; [|discriminate]. simpl in H.
  assert (K : forall k, forallb (fun r => nothing (packed_fire Any r c')) (lookup (PM.map (map pack) (group leads_key l)) k) = false ->
    exists d, step Any sys c d).
  { intros k E. rewrite lookup_map in E. apply forallb_false in E as (p & I & E). apply in_map_iff in I as (r & <- & I). apply group_iff in I as [I _].
    assert (J : In r (lookup (group src (rules sys)) (fst c))) by (unfold lookup; rewrite F; exact I). apply group_iff in J as [J S].
    destruct (packed_fire Any (pack r) c') as [|d' ds] eqn:D; [discriminate|].
    exists (dst r, listed d'). apply (packed_fire_sound Any sys r c c' d'); auto. rewrite D. left; reflexivity. }
  apply andb_false_iff in H as [H|H]; [exact (K _ H)|]. apply forallb_false in H as (e & _ & H). exact (K _ H).
Qed.
Lemma satisfied_spec sys c c' k : Permutation (snd c) (listed c') -> satisfied (pack_rules (rules sys)) (fst c, c') k = true <-> satisfies sys c k.
Proof.
  intros P. induction k as [terms least | | | parts IH | parts IH] using condition_parts.
  - simpl. rewrite Z.leb_le, (packed_value_spec _ _ _ P). reflexivity.
  - exact (stuck_spec Any sys c c' P).
  - simpl. rewrite negb_true_iff. split; [apply stuck_false, P|]. intros [d S]. apply Bool.not_true_iff_false. intros K.
    exact (proj1 (stuck_spec Any sys c c' P) K d S).
  - rewrite satisfies_all. simpl satisfied. rewrite forallb_forall, Forall_forall. rewrite Forall_forall in IH.
    split; intros H p I; apply (IH p I), H, I.
  - rewrite satisfies_any. simpl satisfied. rewrite existsb_exists, Exists_exists. rewrite Forall_forall in IH.
    split; intros (p & I & H); exists p; (split; [exact I|]); apply (IH p I), H.
Qed.

Definition check_condition_run (bd : bound) (sys : system) (k : condition) (start : counted) (later : taken_steps) : bool :=
  let last := ends start later in
  check_run bd sys start later && satisfied (pack_rules (rules sys)) (fst last, entries (snd last)) k.
Lemma check_condition_run_sound bd sys k start later :
  check_condition_run bd sys k start later = true -> meets bd sys (fun c => satisfies sys c k).
Proof.
  intros H. apply andb_true_iff in H as [R H]. apply check_run_reachable in R. exists (written (ends start later)). split; [exact R|].
  apply (satisfied_spec sys (written (ends start later)) (entries (snd (ends start later)))); [|exact H]. rewrite threads_entries. reflexivity.
Qed.
Definition check_condition_set (bd : bound) (sys : system) (k : condition) (D : list packed_config) : bool :=
  let ix := pack_rules (rules sys) in check_set bd sys (fun c => satisfied ix c k) D.
Lemma check_condition_set_sound bd sys k D :
  check_condition_set bd sys k D = true -> ~ meets bd sys (fun c => satisfies sys c k).
Proof.
  intros H (c & R & B). destruct (check_set_sound _ _ _ _ H c R) as (d & P & N). apply (satisfied_spec sys c d k P) in B. congruence.
Qed.

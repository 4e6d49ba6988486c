(* Refutations: a condition on the markings of a net is split into cases, and each contradicts a sum that no step increases. *)
Require Import List Bool Arith NArith ZArith PArith Lia Permutation Mergesort Orders.
Require Import FMapPositive MSetPositive.
Require Import System Property Multiset Firing Index Packed Trace Downward Invariants Condition.
Import ListNotations.
Open Scope Z_scope.

(* ---- the normal form of conditions, in which cases are counted ---- *)
Definition terms_type := list (positive * Z).
Definition then_ (c d : comparison) : comparison := match c with Eq => d | _ => c end.
Fixpoint compare_terms (s t : terms_type) : comparison :=
  match s, t with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | (x, k) :: s, (y, m) :: t => then_ (Pos.compare x y) (then_ (Z.compare k m) (compare_terms s t))
  end.
Definition rank (k : condition) : N := match k with At_least _ _ => 0 | Dead => 1 | Live => 2 | All_of _ => 3 | Any_of _ => 4 end%N.
Fixpoint compare_conditions (a b : condition) : comparison :=
  let each := fix each (p q : list condition) : comparison :=
    match p, q with
    | [], [] => Eq
    | [], _ => Lt
    | _, [] => Gt
    | x :: p, y :: q => then_ (compare_conditions x y) (each p q)
    end in
  match a, b with
  | At_least s n, At_least t m => then_ (compare_terms s t) (Z.compare n m)
  | All_of p, All_of q | Any_of p, Any_of q => each p q
  | _, _ => N.compare (rank a) (rank b)
  end.
Lemma then_eq c d : then_ c d = Eq -> c = Eq /\ d = Eq.
Proof. destruct c; simpl; auto; discriminate. Qed.
Lemma compare_terms_eq s : forall t, compare_terms s t = Eq -> s = t.
Proof.
  induction s as [|[x k] s IH]; intros [|[y m] t]; simpl; try discriminate; [auto|]. intros H.
  apply then_eq in H as [A H]. apply then_eq in H as [B H]. apply Pos.compare_eq in A. apply Z.compare_eq in B. rewrite (IH t H). congruence.
Qed.
Lemma compare_conditions_eq a : forall b, compare_conditions a b = Eq -> a = b.
Proof.
  assert (K : forall parts, Forall (fun a => forall b, compare_conditions a b = Eq -> a = b) parts -> forall q,
    (fix each (p q : list condition) : comparison :=
      match p, q with [], [] => Eq | [], _ => Lt | _, [] => Gt | x :: p, y :: q => then_ (compare_conditions x y) (each p q) end) parts q = Eq -> parts = q).
  { induction 1 as [|x p Hx Hp IH]; intros [|y q]; try discriminate; [auto|]. intros H. apply then_eq in H as [A H]. rewrite (Hx y A), (IH q H). reflexivity. }
  induction a as [terms least | | | parts IH | parts IH] using condition_parts; intros b H; destruct b; simpl in H; try discriminate; auto.
  - apply then_eq in H as [A B]. apply compare_terms_eq in A. apply Z.compare_eq in B. congruence.
  - f_equal. exact (K parts IH _ H).
  - f_equal. exact (K parts IH _ H).
Qed.
(* Sorting only permutes, whatever the order is; this one is total by definition. *)
Module Order <: TotalLeBool.
  Definition t := condition.
  Definition below (a b : condition) : bool := match compare_conditions a b with Gt => false | _ => true end.
  Definition leb (a b : condition) : bool := below a b || negb (below b a).
  Lemma leb_total a b : leb a b = true \/ leb b a = true.
  Proof. unfold leb. destruct (below a b), (below b a); auto. Qed.
End Order.
Module Sorted := Sort Order.
Fixpoint once (l : list condition) : list condition :=
  match l with
  | [] => []
  | x :: t => match once t with
    | y :: t => match compare_conditions x y with Eq => y :: t | _ => x :: y :: t end
    | [] => [x]
    end
  end.
Lemma once_In l p : In p (once l) <-> In p l.
Proof.
  revert p. induction l as [|x l IH]; intros p; [reflexivity|]. simpl. destruct (once l) as [|y t].
  - split; [intros [E|[]]; left; exact E | intros [E|I]; [left; exact E | apply IH in I; destruct I]].
  - destruct (compare_conditions x y) eqn:E; [apply compare_conditions_eq in E; subst y| |]; rewrite <- IH; simpl; tauto.
Qed.
Definition tidy (parts : list condition) : list condition := once (Sorted.sort parts).
Lemma tidy_In parts p : In p (tidy parts) <-> In p parts.
Proof.
  unfold tidy. rewrite once_In. split; apply Permutation_in; [symmetry|]; apply Sorted.Permuted_sort.
Qed.
Definition single (make : list condition -> condition) (parts : list condition) : condition := match parts with [p] => p | _ => make parts end.
Definition is_none (k : condition) : bool := match k with Any_of [] => true | _ => false end.
Definition is_all (k : condition) : bool := match k with All_of [] => true | _ => false end.
Definition join_all (parts : list condition) : condition :=
  if existsb is_none parts then Any_of []
  else single All_of (tidy (flat_map (fun p => match p with All_of inner => inner | _ => [p] end) parts)).
Definition join_any (parts : list condition) : condition :=
  if existsb is_all parts then All_of []
  else single Any_of (tidy (flat_map (fun p => match p with Any_of inner => inner | _ => [p] end) parts)).

Section Satisfies.
  Variables (sys : system) (c : config).
  Let sat := satisfies sys c.
  Lemma join_all_spec parts : sat (join_all parts) <-> Forall sat parts.
  Proof.
    unfold join_all. destruct (existsb is_none parts) eqn:E.
    - apply existsb_exists in E as (p & I & E). split; [intros []|]. rewrite Forall_forall. intros H. specialize (H p I).
      destruct p as [| | | |[|]]; try discriminate. destruct H.
    - clear E. set (flat := flat_map _ _). assert (F : Forall sat flat <-> Forall sat parts).
      { unfold flat. induction parts as [|p parts IH]; simpl; [reflexivity|]. rewrite Forall_app, IH, Forall_cons_iff. apply and_iff_compat_r.
        destruct p; try (rewrite Forall_cons_iff; intuition; fail). symmetry. apply satisfies_all. }
      rewrite <- F. assert (T : Forall sat (tidy flat) <-> Forall sat flat).
      { rewrite !Forall_forall. split; intros H p I; apply H, tidy_In, I. }
      rewrite <- T. unfold single. destruct (tidy flat) as [|p [|]]; try apply satisfies_all. rewrite Forall_cons_iff. intuition.
  Qed.
  Lemma join_any_spec parts : sat (join_any parts) <-> Exists sat parts.
  Proof.
    unfold join_any. destruct (existsb is_all parts) eqn:E.
    - apply existsb_exists in E as (p & I & E). split; [|intros _; exact Logic.I]. intros _. apply Exists_exists. exists p. split; [exact I|].
      destruct p as [| | |[|]|]; try discriminate. exact Logic.I.
    - clear E. set (flat := flat_map _ _). assert (F : Exists sat flat <-> Exists sat parts).
      { unfold flat. induction parts as [|p parts IH]; simpl; [reflexivity|]. rewrite Exists_app, IH, Exists_cons. apply or_iff_compat_r.
        destruct p; try (rewrite Exists_cons, Exists_nil; intuition; fail). symmetry. apply satisfies_any. }
      rewrite <- F. assert (T : Exists sat (tidy flat) <-> Exists sat flat).
      { rewrite !Exists_exists. split; intros (p & I & H); exists p; (split; [apply tidy_In, I | exact H]). }
      rewrite <- T. unfold single. destruct (tidy flat) as [|p [|]]; try apply satisfies_any. rewrite Exists_cons, Exists_nil. intuition.
  Qed.
End Satisfies.

(* ---- conditions in terms of numbers of threads alone ---- *)
(* Where signs decide, numbers do not matter. *)
Definition at_least (terms : terms_type) (least : Z) : condition :=
  if (least <=? 0) && forallb (fun e => 0 <=? snd e) terms then All_of []
  else if (0 <? least) && forallb (fun e => snd e <=? 0) terms then Any_of []
  else At_least terms least.
Fixpoint negate (k : condition) : condition :=
  match k with
  | At_least terms least => At_least (map (fun e => (fst e, - snd e)) terms) (1 - least)
  | Dead => Live
  | Live => Dead
  | All_of parts => join_any (map negate parts)
  | Any_of parts => join_all (map negate parts)
  end.
Definition covering (b : bag) : condition := join_all (map (fun e => At_least [(fst e, 1)] (Z.of_N (snd e))) (entries b)).
Definition live (rs : list rule) : condition := join_any (map (fun r => covering (take r)) rs).
Fixpoint in_numbers (rs : list rule) (k : condition) : condition :=
  match k with
  | At_least terms least => at_least terms least
  | Dead => negate (live rs)
  | Live => live rs
  | All_of parts => join_all (map (in_numbers rs) parts)
  | Any_of parts => join_any (map (in_numbers rs) parts)
  end.
(* A net: one shared state, and no rule moves bystanders. *)
Definition one_state (s : positive) (sys : system) : bool :=
  forallb (fun r => stays r && (Pos.eqb (src r) s && Pos.eqb (dst r) s)) (rules sys) && forallb (fun f => Pos.eqb (at_shared f) s) (families sys).

Lemma at_least_spec sys c terms least : satisfies sys c (at_least terms least) <-> satisfies sys c (At_least terms least).
Proof.
  unfold at_least. destruct ((least <=? 0) && _) eqn:E.
  - apply andb_true_iff in E as [L E]. rewrite forallb_forall in E. simpl. split; [intros _|auto].
    assert (0 <= value_of terms (snd c)); [|lia]. clear L. induction terms as [|[x k] terms IH]; simpl; [lia|].
    assert (0 <= value_of terms (snd c)) by (apply IH; intros e I; apply E; right; exact I).
    assert (0 <= k) by (specialize (E (x, k) (or_introl eq_refl)); simpl in E; lia). fold (value_of terms (snd c)). nia.
  - clear E. destruct ((0 <? least) && _) eqn:E; [|reflexivity].
    apply andb_true_iff in E as [L E]. rewrite forallb_forall in E. simpl. split; [tauto|]. intros H.
    assert (value_of terms (snd c) <= 0); [|lia]. clear L H. induction terms as [|[x k] terms IH]; simpl; [lia|].
    assert (value_of terms (snd c) <= 0) by (apply IH; intros e I; apply E; right; exact I).
    assert (k <= 0) by (specialize (E (x, k) (or_introl eq_refl)); simpl in E; lia). fold (value_of terms (snd c)). nia.
Qed.
Lemma covering_spec sys c b : satisfies sys c (covering b) <-> sub (threads b) (snd c).
Proof.
  unfold covering. rewrite join_all_spec, Forall_forall, sub_cnt. split.
  - intros H x. rewrite cnt_threads. unfold many. destruct (PM.find x b) as [n|] eqn:F; [|lia].
    apply PM.elements_correct in F. rewrite <- entries_elements in F.
    specialize (H _ (in_map (fun e => At_least [(fst e, 1)] (Z.of_N (snd e))) _ _ F)). cbn [satisfies value_of fold_right fst snd] in H. unfold value_of in H. cbn [fold_right fst snd] in H. unfold cnt. lia.
  - intros H k I. apply in_map_iff in I as ([x n] & <- & I). rewrite entries_elements in I. apply PM.elements_complete in I.
    specialize (H x). rewrite cnt_threads in H. unfold many in H. rewrite I in H. cbn [satisfies]. unfold value_of. cbn [fold_right fst snd]. unfold cnt in H. lia.
Qed.
Lemma value_of_opposite terms c : value_of (map (fun e => (fst e, - snd e)) terms) c = - value_of terms c.
Proof. unfold value_of. induction terms as [|[x k] terms IH]; simpl; [reflexivity|]. rewrite IH. lia. Qed.
Lemma negate_spec sys c k : ~ satisfies sys c k -> satisfies sys c (negate k).
Proof.
  set (c' := map (fun x => (x, 1%N)) (snd c)). assert (P : Permutation (snd c) (listed c')).
  { unfold c'. induction (snd c) as [|x l IH]; [reflexivity|]. simpl. rewrite <- IH. reflexivity. }
  induction k as [terms least | | | parts IH | parts IH] using condition_parts; intros H.
  - cbn [satisfies negate] in *. rewrite value_of_opposite. lia.
  - apply (stuck_false sys c c' P). apply Bool.not_true_iff_false. intros K. apply H. exact (proj1 (stuck_spec Any sys c c' P) K).
  - intros d S. apply H. exists d. exact S.
  - change (satisfies sys c (join_any (map negate parts))). apply join_any_spec. rewrite satisfies_all in H.
    assert (F : forallb (satisfied (pack_rules (rules sys)) (fst c, c')) parts = false).
    { apply Bool.not_true_iff_false. intros K. apply H. rewrite forallb_forall in K. apply Forall_forall. intros p I. apply (satisfied_spec sys c c' p P), K, I. }
    apply forallb_false in F as (p & I & F). apply Exists_exists. exists (negate p). split; [apply in_map, I|]. rewrite Forall_forall in IH.
    apply (IH p I). intros K. apply (satisfied_spec sys c c' p P) in K. congruence.
  - change (satisfies sys c (join_all (map negate parts))). apply join_all_spec, Forall_forall. intros q I. apply in_map_iff in I as (p & <- & I).
    rewrite Forall_forall in IH. apply (IH p I). intros K. apply H, satisfies_any, Exists_exists. exists p. auto.
Qed.
Lemma one_state_rule s sys r : one_state s sys = true -> In r (rules sys) -> stays r = true /\ src r = s /\ dst r = s.
Proof.
  intros H I. apply andb_true_iff in H as [H _]. rewrite forallb_forall in H. specialize (H r I). apply andb_true_iff in H as [A H].
  apply andb_true_iff in H as [B C]. apply Pos.eqb_eq in B, C. auto.
Qed.
Lemma one_state_reachable bd s sys c : one_state s sys = true -> reachable bd sys c -> fst c = s.
Proof.
  intros H R. induction R as [c I | c d R IH S].
  - destruct I as (f & _ & If & E & _). apply andb_true_iff in H as [_ H]. rewrite forallb_forall in H. specialize (H f If). apply Pos.eqb_eq in H. congruence.
  - destruct S as [r rest os created Ir F T _ _ _ _ _]. destruct (one_state_rule s sys r H Ir) as (_ & _ & D). congruence.
Qed.
Lemma live_spec s sys c : one_state s sys = true -> fst c = s -> satisfies sys c (live (rules sys)) <-> exists d, step Any sys c d.
Proof.
  intros H E. unfold live. rewrite join_any_spec, Exists_exists. split.
  - intros (k & I & S). apply in_map_iff in I as (r & <- & I). apply covering_spec in S as [rest P]. destruct (one_state_rule s sys r H I) as (St & A & _).
    exists (dst r, threads (put r) ++ threads (spawn r) ++ present (map Some rest)).
    apply a_step with r rest (map Some rest) (threads (spawn r)); auto; [congruence|]. apply stays_moved; auto.
  - intros [d [r rest os created Ir F T P M C D W]]. exists (covering (take r)).
    split; [apply (in_map (fun r => covering (take r))), Ir|]. apply covering_spec. exists rest. exact P.
Qed.
Lemma in_numbers_spec s sys c k : one_state s sys = true -> fst c = s -> satisfies sys c k -> satisfies sys c (in_numbers (rules sys) k).
Proof.
  intros H E. induction k as [terms least | | | parts IH | parts IH] using condition_parts; intros S.
  - apply at_least_spec, S.
  - apply negate_spec. intros L. apply (live_spec s sys c H E) in L as [d D]. exact (S d D).
  - apply (live_spec s sys c H E), S.
  - change (satisfies sys c (join_all (map (in_numbers (rules sys)) parts))). rewrite satisfies_all in S. apply join_all_spec, Forall_forall.
    intros q I. apply in_map_iff in I as (p & <- & I). rewrite Forall_forall in IH, S. apply (IH p I), S, I.
  - change (satisfies sys c (join_any (map (in_numbers (rules sys)) parts))). rewrite satisfies_any, Exists_exists in S. destruct S as (p & I & S).
    apply join_any_spec, Exists_exists. exists (in_numbers (rules sys) p). split; [apply in_map, I|]. rewrite Forall_forall in IH. apply (IH p I), S.
Qed.

(* ---- cases ---- *)
Definition comparison_type := (terms_type * Z)%type.
Record held := { known : PM.t comparison_type; next_place : positive; undecided : list (list condition) }.
Definition nothing_held : held := {| known := PM.empty _; next_place := 1%positive; undecided := [] |}.
Fixpoint assume (h : held) (k : condition) : option held :=
  match k with
  | At_least terms least =>
    Some {| known := PM.add (next_place h) (terms, least) (known h); next_place := Pos.succ (next_place h); undecided := undecided h |}
  | Any_of parts => Some {| known := known h; next_place := next_place h; undecided := undecided h ++ [parts] |}
  | All_of parts => fold_left (fun found p => match found with Some h => assume h p | None => None end) parts (Some h)
  | Dead | Live => None
  end.
(* A sum that no step increases, and which comparisons and traps add up to it, each so many times. *)
Record linear := { weights : PM.t Z; compared : list (positive * N); trapped : list (positive * N) }.
Inductive case := Split (which : N) | Linear (found : linear).
Fixpoint pick {A} (i : N) (l : list A) : option (A * list A) :=
  match l with
  | [] => None
  | x :: t => if N.eqb i 0 then Some (x, t) else match pick (N.pred i) t with Some (y, rest) => Some (y, x :: rest) | None => None end
  end.
Definition add_terms (k : Z) (terms : terms_type) (m : PM.t Z) : PM.t Z :=
  fold_right (fun e m => PM.add (fst e) (weight m (fst e) + k * snd e) m) m terms.
Fixpoint use (available : PM.t comparison_type) (l : list (positive * N)) (sum : PM.t Z * Z) : option (PM.t Z * Z) :=
  match l with
  | [] => Some sum
  | (i, times) :: t =>
    match PM.find i available with
    | None => None
    | Some (terms, least) => use available t (add_terms (Z.of_N times) terms (fst sum), snd sum + Z.of_N times * least)
    end
  end.
Definition as_vector (m : PM.t Z) : vector := {| of_shared := PM.empty _; of_local := m |}.
Definition never_grows (sys : system) (w : PM.t Z) : bool :=
  forallb (fun r => sum (as_vector w) (put r) + sum (as_vector w) (spawn r) <=? sum (as_vector w) (take r)) (rules sys)
  && forallb (fun f => forallb (fun l => weight w l <=? 0) (any f)) (families sys).
Definition contradicts (sys : system) (traps : PM.t comparison_type) (h : held) (x : linear) : bool :=
  never_grows sys (weights x)
  && match use (known h) (compared x) (PM.empty _, 0) with
     | None => false
     | Some found =>
       match use traps (trapped x) found with
       | None => false
       | Some (used, asked) =>
         forallb (fun e => snd e <=? weight (weights x) (fst e)) (PM.elements used)
         && forallb (fun e => weight used (fst e) <=? snd e) (PM.elements (weights x))
         && forallb (fun f => sum (as_vector (weights x)) (fixed f) <? asked) (families sys)
       end
     end.
Fixpoint assume_each (h : held) (parts : list condition) : option (list held) :=
  match parts with
  | [] => Some []
  | p :: t => match assume h p, assume_each h t with Some h', Some rest => Some (h' :: rest) | _, _ => None end
  end.
Fixpoint check_cases (sys : system) (traps : PM.t comparison_type) (cases : list case) (waiting : list held) : bool :=
  match cases, waiting with
  | [], [] => true
  | Linear x :: t, h :: ws => contradicts sys traps h x && check_cases sys traps t ws
  | Split i :: t, h :: ws =>
    match pick i (undecided h) with
    | None => false
    | Some (parts, rest) =>
      match assume_each {| known := known h; next_place := next_place h; undecided := rest |} parts with
      | None => false
      | Some hs => check_cases sys traps t (hs ++ ws)
      end
    end
  | _, _ => false
  end.
(* A trap has a thread at every start, and what takes from it puts into it. *)
Definition in_trap (trap : PS.t) (b : bag) : bool := existsb (fun l => PS.mem l trap) (support b).
Definition check_trap (sys : system) (trap : PS.t) : bool :=
  forallb (fun f => in_trap trap (fixed f)) (families sys)
  && forallb (fun r => negb (in_trap trap (take r)) || in_trap trap (put r) || in_trap trap (spawn r)) (rules sys).
Fixpoint number_traps (traps : list PS.t) (i : positive) : PM.t comparison_type :=
  match traps with
  | [] => PM.empty _
  | t :: more => PM.add i (map (fun l => (l, 1)) (PS.elements t), 1) (number_traps more (Pos.succ i))
  end.
Record refutation := { only_state : positive; traps : list PS.t; cases : list case }.
Definition check_refutation (bd : bound) (sys : system) (k : condition) (x : refutation) : bool :=
  match bd with
  | Threads _ => false
  | _ =>
    one_state (only_state x) sys && forallb (check_trap sys) (traps x)
    && match assume nothing_held (in_numbers (rules sys) k) with
       | None => false
       | Some h => check_cases sys (number_traps (traps x) 1%positive) (cases x) [h]
       end
  end.

(* ---- and why ---- *)
Section Sound.
  Variables (sys : system) (c : config).
  Definition true_of (available : PM.t comparison_type) := forall i terms least, PM.find i available = Some (terms, least) -> least <= value_of terms (snd c).
  Definition holds_all (h : held) := true_of (known h) /\ Forall (fun parts => satisfies sys c (Any_of parts)) (undecided h).
  Lemma assume_holds k : forall h h', holds_all h -> satisfies sys c k -> assume h k = Some h' -> holds_all h'.
  Proof.
    induction k as [terms least | | | parts IH | parts IH] using condition_parts; intros h h' [T O] S E; try discriminate.
    - injection E as <-. split; [|exact O]. intros i t n F. simpl in F. destruct (Pos.eq_dec i (next_place h)) as [->|N].
      + rewrite PM.gss in F. injection F as <- <-. exact S.
      + rewrite PM.gso in F by exact N. exact (T i t n F).
    - rewrite satisfies_all in S. simpl in E. assert (H : holds_all h) by (split; assumption). clear T O. revert h H E.
      induction parts as [|p parts IHp]; intros h H E; simpl in E; [injection E as <-; exact H|].
      inversion IH; subst. inversion S; subst. destruct (assume h p) as [h1|] eqn:A.
      + apply (IHp H3 H5 h1); [|exact E]. exact (H2 h h1 H H4 A).
      + exfalso. clear - E. induction parts; simpl in E; [discriminate | auto].
    - injection E as <-. split; [exact T|]. simpl. apply Forall_app. split; [exact O | constructor; [exact S | constructor]].
  Qed.
  Lemma assume_each_In h parts : forall hs, assume_each h parts = Some hs -> forall p, In p parts -> exists h', In h' hs /\ assume h p = Some h'.
  Proof.
    induction parts as [|q parts IH]; simpl; intros hs E p I; [destruct I|]. destruct (assume h q) as [h1|] eqn:A; [|discriminate].
    destruct (assume_each h parts) as [rest|]; [|discriminate]. injection E as <-. destruct I as [->|I]; [exists h1; split; [left|]; auto|].
    destruct (IH rest eq_refl p I) as (h' & J & B). exists h'. split; [right|]; assumption.
  Qed.
  Lemma pick_perm {A} l : forall i (x : A) rest, pick i l = Some (x, rest) -> Permutation l (x :: rest).
  Proof.
    induction l as [|y l IH]; simpl; intros i x rest E; [discriminate|]. destruct (N.eqb i 0); [injection E as -> ->; reflexivity|].
    destruct (pick (N.pred i) l) as [[z r]|] eqn:P; [|discriminate]. injection E as -> <-. rewrite (IH _ _ _ P). apply perm_swap.
  Qed.
  Lemma list_sum_more m x k l : list_sum (as_vector (PM.add x (weight m x + k) m)) l = list_sum (as_vector m) l + k * Z.of_nat (cnt l x).
  Proof.
    unfold cnt. induction l as [|y l IH]; [simpl; lia|]. simpl list_sum. rewrite IH. simpl of_local. simpl count_occ. unfold weight at 1.
    destruct (Pos.eq_dec y x) as [->|N]; [rewrite PM.gss; lia|]. rewrite PM.gso by congruence. unfold weight. lia.
  Qed.
  Lemma list_sum_terms k terms m l : list_sum (as_vector (add_terms k terms m)) l = list_sum (as_vector m) l + k * value_of terms l.
  Proof.
    induction terms as [|[x n] terms IH]; simpl; [lia|]. fold (add_terms k terms m) (value_of terms l). rewrite list_sum_more, IH. unfold cnt. lia.
  Qed.
  Lemma use_sound available l : true_of available -> forall sum found, use available l sum = Some found ->
    snd sum <= list_sum (as_vector (fst sum)) (snd c) -> snd found <= list_sum (as_vector (fst found)) (snd c).
  Proof.
    intros T. induction l as [|[i times] l IH]; intros sum found E H; simpl in E; [injection E as <-; exact H|].
    destruct (PM.find i available) as [[terms least]|] eqn:F; [|discriminate]. apply (IH _ _ E). simpl. rewrite list_sum_terms.
    specialize (T i terms least F). pose proof (N2Z.is_nonneg times). nia.
  Qed.
  Lemma list_sum_empty l : list_sum (as_vector (PM.empty Z)) l = 0.
  Proof. induction l as [|x l IH]; [reflexivity|]. simpl list_sum. rewrite IH. unfold weight. simpl of_local. rewrite PM.gempty. reflexivity. Qed.
  Lemma list_sum_below m w l : (forall x, weight m x <= weight w x) -> list_sum (as_vector m) l <= list_sum (as_vector w) l.
  Proof. intros H. induction l as [|x l IH]; simpl; [lia|]. specialize (H x). lia. Qed.
  Variable bd : bound.
  Hypothesis reached : reachable bd sys c.
  Hypothesis open_ended : match bd with Threads _ => False | _ => True end.
  Hypothesis plain : forall r, In r (rules sys) -> stays r = true.
  Lemma never_grows_reachable w : never_grows sys w = true -> exists f, In f (families sys) /\ list_sum (as_vector w) (snd c) <= sum (as_vector w) (fixed f).
  Proof.
    intros H. apply andb_true_iff in H as [H1 H2]. rewrite forallb_forall in H1, H2.
    induction reached as [c0 I | c0 d R IH S].
    - destruct I as (f & extra & If & _ & A & P & _). exists f. split; [exact If|]. specialize (H2 f If). rewrite forallb_forall in H2.
      rewrite (list_sum_perm _ _ _ P), list_sum_app, sum_threads. assert (list_sum (as_vector w) extra <= 0); [|lia].
      clear - A H2. induction A as [|x extra I A IH]; simpl; [lia|]. specialize (H2 x I). apply Z.leb_le in H2. lia.
    - destruct (IH R) as (f & If & Le). exists f. split; [exact If|]. destruct S as [r rest os created Ir F T P M C D W].
      specialize (H1 r Ir). apply Z.leb_le in H1. apply stays_moved in M; [|exact (plain r Ir)]. subst os. rewrite present_Some in D.
      assert (Cr : created = threads (spawn r)) by (destruct bd; simpl in C; [exact C | destruct open_ended | exact C]). rewrite Cr in D. clear C Cr.
      rewrite (list_sum_perm _ _ _ P), list_sum_app in Le. rewrite (list_sum_perm _ _ _ D), !list_sum_app. rewrite !sum_threads in *. lia.
  Qed.
  Lemma in_trap_In trap b : in_trap trap b = true <-> exists l, In l (threads b) /\ PS.mem l trap = true.
  Proof. unfold in_trap. rewrite existsb_exists. split; intros (l & I & M); exists l; (split; [apply support_In, I | exact M]). Qed.
  Lemma trap_reachable trap : check_trap sys trap = true -> exists l, In l (snd c) /\ PS.mem l trap = true.
  Proof.
    intros H. apply andb_true_iff in H as [H1 H2]. rewrite forallb_forall in H1, H2.
    induction reached as [c0 I | c0 d R IH S].
    - destruct I as (f & extra & If & _ & _ & P & _). specialize (H1 f If). apply in_trap_In in H1 as (l & I & M). exists l. split; [|exact M].
      apply (Permutation_in _ (Permutation_sym P)), in_or_app. auto.
    - destruct (IH R) as (l & I & Ml). destruct S as [r rest os created Ir F T P M C D W]. specialize (H2 r Ir).
      apply stays_moved in M; [|exact (plain r Ir)]. subst os. rewrite present_Some in D.
      assert (Cr : created = threads (spawn r)) by (destruct bd; simpl in C; [exact C | destruct open_ended | exact C]). rewrite Cr in D. clear C Cr.
      apply (Permutation_in _ P), in_app_or in I as [I|I].
      + assert (K : exists l, (In l (threads (put r)) \/ In l (threads (spawn r))) /\ PS.mem l trap = true).
        { replace (in_trap trap (take r)) with true in H2 by (symmetry; apply in_trap_In; exists l; auto). simpl in H2.
          apply orb_true_iff in H2 as [H2|H2]; apply in_trap_In in H2 as (x & J & Mx); exists x; auto. }
        destruct K as (x & J & Mx). exists x. split; [|exact Mx]. apply (Permutation_in _ (Permutation_sym D)), in_or_app.
        destruct J as [J|J]; [auto|]. right. apply in_or_app. auto.
      + exists l. split; [|exact Ml]. apply (Permutation_in _ (Permutation_sym D)), in_or_app. right. apply in_or_app. auto.
  Qed.
  Lemma number_traps_true l : forallb (check_trap sys) l = true -> forall i, true_of (number_traps l i).
  Proof.
    induction l as [|trap l IH]; simpl; intros H i j terms least F; [rewrite PM.gempty in F; discriminate|].
    apply andb_true_iff in H as [H1 H2]. destruct (Pos.eq_dec j i) as [->|N]; [|rewrite PM.gso in F by exact N; exact (IH H2 _ j terms least F)].
    rewrite PM.gss in F. injection F as <- <-. destruct (trap_reachable trap H1) as (x & Ix & M). apply elements_mem in M.
    apply (count_occ_In Pos.eq_dec) in Ix. clear - Ix M. unfold value_of. induction (PS.elements trap) as [|y ys IH]; [destruct M|].
    assert (N : 0 <= fold_right (fun e n => snd e * Z.of_nat (count_occ Pos.eq_dec (snd c) (fst e)) + n) 0 (map (fun l => (l, 1)) ys)).
    { clear. induction ys as [|y ys IH]; [simpl; lia|]. cbn [map fold_right fst snd]. lia. }
    cbn [map fold_right fst snd]. destruct M as [->|M]; [lia|]. specialize (IH M). lia.
  Qed.
  Lemma contradicts_sound traps h x : true_of traps -> contradicts sys traps h x = true -> ~ holds_all h.
  Proof.
    intros Tr H [T _]. apply andb_true_iff in H as [H1 H2]. destruct (never_grows_reachable _ H1) as (f & If & Le).
    destruct (use (known h) _ _) as [found|] eqn:E1; [|discriminate]. destruct (use traps _ _) as [[used asked]|] eqn:E2; [|discriminate].
    apply (use_sound _ _ T) in E1; [|simpl; rewrite list_sum_empty; lia].
    apply (use_sound _ _ Tr _ _ E2) in E1. simpl in E1.
    apply andb_true_iff in H2 as [H2 H4]. apply andb_true_iff in H2 as [H2 H3]. rewrite forallb_forall in H2, H3, H4.
    specialize (H4 f If). apply Z.ltb_lt in H4.
    assert (B : list_sum (as_vector used) (snd c) <= list_sum (as_vector (weights x)) (snd c)); [|lia].
    apply list_sum_below. intros y. destruct (PM.find y used) as [n|] eqn:F.
    - apply PM.elements_correct in F as I. specialize (H2 _ I). apply Z.leb_le in H2. unfold weight at 1. rewrite F. exact H2.
    - destruct (PM.find y (weights x)) as [n|] eqn:G; [|unfold weight; rewrite F, G; lia].
      apply PM.elements_correct in G as I. specialize (H3 _ I). apply Z.leb_le in H3. unfold weight at 2. rewrite G. exact H3.
  Qed.
  Lemma check_cases_sound traps l : true_of traps -> forall waiting, check_cases sys traps l waiting = true -> forall h, In h waiting -> ~ holds_all h.
  Proof.
    intros Tr. induction l as [|x l IH]; intros [|h0 ws] H; simpl in H; try (intros h []; fail); try discriminate.
    destruct x as [i|x].
    - destruct (pick i (undecided h0)) as [[parts rest]|] eqn:P; [|discriminate]. destruct (assume_each _ parts) as [hs|] eqn:E; [|discriminate].
      intros h [<-|I]; [|apply (IH _ H), in_or_app; auto]. intros [T O]. apply pick_perm in P.
      assert (O' := Permutation_Forall P O). inversion O' as [|y ys O1 O2]; subst. rewrite satisfies_any, Exists_exists in O1.
      destruct O1 as (p & Ip & S). destruct (assume_each_In _ _ _ E p Ip) as (h' & Ih & A).
      apply (IH _ H h'); [apply in_or_app; auto|]. eapply assume_holds; [|exact S | exact A]. split; assumption.
    - apply andb_true_iff in H as [H1 H2]. intros h [<-|I]; [exact (contradicts_sound _ _ _ Tr H1) | exact (IH _ H2 h I)].
  Qed.
End Sound.
Theorem check_refutation_sound bd sys k x : check_refutation bd sys k x = true -> ~ meets bd sys (fun c => satisfies sys c k).
Proof.
  intros H (c & R & S). unfold check_refutation in H.
  assert (B : match bd with Threads _ => False | _ => True end) by (destruct bd; auto; discriminate).
  assert (H' : one_state (only_state x) sys && forallb (check_trap sys) (traps x)
    && match assume nothing_held (in_numbers (rules sys) k) with
       | None => false
       | Some h => check_cases sys (number_traps (traps x) 1%positive) (cases x) [h]
       end = true) by (destruct bd; [exact H | discriminate | exact H]).
  clear H. apply andb_true_iff in H' as [H H3]. apply andb_true_iff in H as [H1 H2].
  destruct (assume _ _) as [h|] eqn:E; [|discriminate].
  assert (Pl : forall r, In r (rules sys) -> stays r = true) by (intros r I; destruct (one_state_rule _ _ r H1 I); auto).
  apply (check_cases_sound sys c bd R B Pl _ _ (number_traps_true sys c bd R B Pl _ H2 1%positive) _ H3 h (or_introl eq_refl)).
  eapply assume_holds; [|apply (in_numbers_spec _ sys c k H1 (one_state_reachable bd _ sys c H1 R) S) | exact E].
  split; [intros i t n F; simpl in F; rewrite PM.gempty in F; discriminate | constructor].
Qed.
(* What covers one of these. *)
Definition covering_one (targets : list counted) : condition := join_any (map (fun t => covering (snd t)) targets).
Lemma covering_one_spec sys c t targets : In t targets -> covers c t -> satisfies sys c (covering_one targets).
Proof.
  intros I [_ C]. apply join_any_spec, Exists_exists. exists (covering (snd t)). split; [apply (in_map (fun t => covering (snd t))), I|]. apply covering_spec, C.
Qed.

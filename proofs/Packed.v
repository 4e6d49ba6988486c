(* Small multisets as lists of entries, and sets of them: what closed sets are made of. An entry that is listed twice counts twice, so nothing is assumed about
   the lists; that they are sorted only makes equal multisets equal lists. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive.
Require Import System Multiset Firing Index.
Import ListNotations.

Definition packed := list (positive * N).
Definition packed_config := (positive * packed)%type.
Lemma cnt_listed y m e x : cnt (listed ((y, m) :: e)) x = (if Pos.eq_dec y x then N.to_nat m else 0) + cnt (listed e) x.
Proof. change (listed ((y, m) :: e)) with (repeat y (N.to_nat m) ++ listed e). rewrite cnt_app, cnt_repeat. reflexivity. Qed.

(* ---- less and more ---- *)
Fixpoint drop (x : positive) (n : N) (e : packed) : option packed :=
  match e with
  | [] => match n with N0 => Some [] | _ => None end
  | (y, m) :: t =>
    if Pos.eqb x y then match N.compare n m with Lt => Some ((y, N.sub m n) :: t) | Eq => Some t | Gt => drop x (N.sub n m) t end
    else match drop x n t with Some rest => Some ((y, m) :: rest) | None => None end
  end.
Fixpoint drops (b e : packed) : option packed :=
  match b with [] => Some e | (x, n) :: t => match drop x n e with Some rest => drops t rest | None => None end end.
(* The order of the entries of a map: lowest bits first. *)
Fixpoint order (x y : positive) : comparison :=
  match x, y with
  | xO x, xO y | xI x, xI y => order x y
  | xH, xH => Eq
  | xO _, _ | xH, xI _ => Lt
  | _, _ => Gt
  end.
Fixpoint insert (x : positive) (n : N) (e : packed) : packed :=
  match e with
  | [] => [(x, n)]
  | (y, m) :: t => match order x y with Lt => (x, n) :: e | Eq => (y, N.add m n) :: t | Gt => (y, m) :: insert x n t end
  end.
Fixpoint inserts (b e : packed) : packed := match b with [] => e | (x, n) :: t => inserts t (insert x n e) end.
Definition packed_total (e : packed) : N := fold_right (fun e n => N.add (snd e) n) 0%N e.

Lemma drop_spec x e : forall n, match drop x n e with
  | Some rest => forall z, cnt (listed e) z = (if Pos.eq_dec x z then N.to_nat n else 0) + cnt (listed rest) z
  | None => cnt (listed e) x < N.to_nat n
  end.
Proof.
  induction e as [|[y m] t IH]; intros n; simpl drop.
  - destruct n; [intros z; destruct (Pos.eq_dec x z); auto | simpl; lia].
  - destruct (Pos.eqb_spec x y) as [<-|NE].
    + destruct (N.compare_spec n m) as [->|L|L].
      * intros z. rewrite cnt_listed. reflexivity.
      * intros z. rewrite !cnt_listed. destruct (Pos.eq_dec x z); lia.
      * specialize (IH (n - m)%N). destruct (drop x (n - m) t) as [rest|].
        -- intros z. rewrite cnt_listed, IH. destruct (Pos.eq_dec x z); lia.
        -- rewrite cnt_listed. destruct (Pos.eq_dec x x); [lia | congruence].
    + specialize (IH n). destruct (drop x n t) as [rest|].
      * intros z. rewrite !cnt_listed, IH. lia.
      * rewrite cnt_listed. destruct (Pos.eq_dec y x); [congruence | lia].
Qed.
Lemma drops_spec b : forall e, match drops b e with
  | Some rest => Permutation (listed e) (listed b ++ listed rest)
  | None => ~ sub (listed b) (listed e)
  end.
Proof.
  induction b as [|[x n] b IH]; intros e; simpl drops; [exact (Permutation_refl _)|].
  pose proof (drop_spec x e n) as D. destruct (drop x n e) as [rest|].
  - specialize (IH rest). destruct (drops b rest) as [rest'|].
    + rewrite perm_cnt in *. intros z. rewrite D, IH, !cnt_app, cnt_listed. lia.
    + rewrite sub_cnt in *. intros S. apply IH. intros z. specialize (S z). rewrite D, cnt_listed in S. lia.
  - rewrite sub_cnt. intros S. specialize (S x). rewrite cnt_listed in S. destruct (Pos.eq_dec x x); [lia | congruence].
Qed.
Lemma order_eq x : forall y, order x y = Eq -> x = y.
Proof. induction x as [x IH|x IH|]; intros [y|y|]; simpl; intros E; try discriminate; try rewrite (IH y E); reflexivity. Qed.
Lemma cnt_insert x n e z : cnt (listed (insert x n e)) z = (if Pos.eq_dec x z then N.to_nat n else 0) + cnt (listed e) z.
Proof.
  induction e as [|[y m] t IH]; simpl insert; [apply cnt_listed|].
  destruct (order x y) eqn:O; [apply order_eq in O; subst y| |]; rewrite !cnt_listed; [|lia|rewrite IH; lia].
  destruct (Pos.eq_dec x z); lia.
Qed.
Lemma inserts_perm b : forall e, Permutation (listed (inserts b e)) (listed b ++ listed e).
Proof.
  induction b as [|[x n] b IH]; intros e; simpl inserts; [reflexivity|]. rewrite IH. apply perm_cnt. intros z.
  rewrite !cnt_app, cnt_listed, cnt_insert. lia.
Qed.
Lemma packed_total_size e : packed_total e = size (listed e).
Proof.
  unfold size. induction e as [|[x n] e IH]; [reflexivity|]. change (listed ((x, n) :: e)) with (repeat x (N.to_nat n) ++ listed e).
  simpl packed_total. fold (packed_total e). rewrite IH, app_length, repeat_length. lia.
Qed.
Lemma threads_entries b : listed (entries b) = threads b.
Proof. rewrite entries_elements. reflexivity. Qed.

(* ---- steps ---- *)
Record packed_rule := { whole : rule; takes : packed; puts : packed }.
Definition pack (r : rule) : packed_rule := {| whole := r; takes := entries (take r); puts := entries (plus (put r) (spawn r)) |}.
Definition packed_after (r : rule) (rest : packed) : list packed := if stays r then [rest] else map entries (ways (fates r) rest).
Definition packed_fire (bd : bound) (r : packed_rule) (c : packed) : list packed :=
  match drops (takes r) c with
  | None => []
  | Some rest =>
    match bd with
    | Threads most =>
      let arrived := if N.leb (packed_total rest + packed_total (puts r))%N most then puts r else entries (put (whole r)) in
      filter (fun d => N.leb (packed_total d) most) (map (inserts arrived) (packed_after (whole r) rest))
    | _ => map (inserts (puts r)) (packed_after (whole r) rest)
    end
  end.
Lemma packed_after_complete r rest os : moved r (listed rest) os -> exists b, In b (packed_after r rest) /\ Permutation (listed b) (present os).
Proof.
  unfold packed_after. destruct (stays r) eqn:E.
  - intros M. apply stays_moved in M; [|exact E]. subst os. exists rest. rewrite present_Some. simpl. auto.
  - intros M. destruct (ways_complete (fates r) rest os M) as (b & I & P). exists (entries b). rewrite threads_entries. split; [apply in_map, I | exact P].
Qed.
Lemma packed_fire_complete bd sys c c' d : Permutation (snd c) (listed c') -> step bd sys c d ->
  exists r d', In r (rules sys) /\ fst c = src r /\ fst d = dst r /\ sub (threads (take r)) (listed c')
    /\ In d' (packed_fire bd (pack r) c') /\ Permutation (snd d) (listed d').
Proof.
  intros Pc [r rest os created R F T P M C D W]. rewrite Pc in P. exists r.
  assert (S : sub (threads (take r)) (listed c')) by (exists rest; exact P).
  pose proof (drops_spec (entries (take r)) c') as Dr. unfold packed_fire. simpl takes.
  destruct (drops (entries (take r)) c') as [rest'|]; [|rewrite threads_entries in Dr; destruct (Dr S)].
  rewrite threads_entries in Dr.
  assert (Pr : Permutation rest (listed rest')) by (apply Permutation_app_inv_l with (threads (take r)); rewrite <- P; exact Dr).
  destruct (Forall2_perm _ _ _ Pr _ M) as (os' & M' & P').
  destruct (packed_after_complete _ _ _ M') as (b & I & Pb).
  assert (Pd : Permutation (snd d) ((threads (put r) ++ created) ++ listed b)).
  { rewrite D, (present_perm _ _ P'), Pb, <- app_assoc. reflexivity. }
  assert (All : Permutation (listed (puts (pack r))) (threads (put r) ++ threads (spawn r))) by (simpl; rewrite threads_entries; apply threads_plus).
  assert (Gr : (packed_total rest' + packed_total (puts (pack r)))%N = size (rest ++ threads (put r) ++ threads (spawn r))).
  { rewrite !packed_total_size, <- size_app. apply size_perm. rewrite Pr, All. reflexivity. }
  destruct bd as [|most|most]; simpl in C, W.
  - exists (inserts (puts (pack r)) b). repeat (split; [auto; fail|]). split; [apply in_map, I|]. rewrite Pd, inserts_perm, All, C. reflexivity.
  - rewrite <- Gr in C. set (arrived := if N.leb (packed_total rest' + packed_total (puts (pack r)))%N most then puts (pack r) else entries (put r)).
    assert (Pd' : Permutation (snd d) (listed (inserts arrived b))).
    { rewrite Pd, inserts_perm. apply Permutation_app_tail. subst created. unfold arrived. destruct (N.leb _ most); [rewrite All; reflexivity|].
      rewrite threads_entries, app_nil_r. reflexivity. }
    exists (inserts arrived b). repeat (split; [auto; fail|]). split; [|exact Pd'].
    apply filter_In. split; [apply in_map, I|]. rewrite packed_total_size, <- (size_perm _ _ Pd'). exact W.
  - exists (inserts (puts (pack r)) b). repeat (split; [auto; fail|]). split; [apply in_map, I|]. rewrite Pd, inserts_perm, All, C. reflexivity.
Qed.

Lemma packed_after_sound r rest b : In b (packed_after r rest) -> exists os, moved r (listed rest) os /\ Permutation (listed b) (present os).
Proof.
  unfold packed_after. destruct (stays r) eqn:E.
  - intros [<-|[]]. exists (map Some (listed rest)). split; [apply stays_moved; auto | rewrite present_Some; auto].
  - intros I. apply in_map_iff in I as (b' & <- & I). rewrite threads_entries. exact (ways_sound (fates r) rest b' I).
Qed.
Lemma packed_fire_sound bd sys r c c' d' : In r (rules sys) -> fst c = src r -> Permutation (snd c) (listed c') ->
  In d' (packed_fire bd (pack r) c') -> step bd sys c (dst r, listed d').
Proof.
  intros R F Pc I. pose proof (drops_spec (entries (take r)) c') as Dr. unfold packed_fire in I. simpl takes in I.
  destruct (drops (entries (take r)) c') as [rest|]; [|destruct I]. rewrite threads_entries, <- Pc in Dr.
  set (all := size (listed rest ++ threads (put r) ++ threads (spawn r))).
  assert (All : Permutation (listed (puts (pack r))) (threads (put r) ++ threads (spawn r))) by (simpl; rewrite threads_entries; apply threads_plus).
  assert (Gr : (packed_total rest + packed_total (puts (pack r)))%N = all).
  { unfold all. rewrite !packed_total_size, <- size_app. apply size_perm. rewrite All. reflexivity. }
  assert (K : exists b, In b (packed_after r rest) /\ within bd (size (listed d')) = true /\
    Permutation (listed d') (threads (put r) ++ (if within bd all then threads (spawn r) else []) ++ listed b)).
  { destruct bd as [|most|most]; simpl within.
    - apply in_map_iff in I as (b & <- & I). exists b. rewrite inserts_perm, All, <- app_assoc. auto.
    - rewrite Gr in I. apply filter_In in I as [I W]. rewrite packed_total_size in W. apply in_map_iff in I as (b & <- & I). exists b.
      split; [exact I|]. split; [exact W|]. rewrite inserts_perm. destruct (N.leb all most); [rewrite All, <- app_assoc; reflexivity|].
      simpl whole. rewrite threads_entries. reflexivity.
    - apply in_map_iff in I as (b & <- & I). exists b. rewrite inserts_perm, All, <- app_assoc. auto. }
  destruct K as (b & Ib & W & Pd). destruct (packed_after_sound _ _ _ Ib) as (os & M & Pb).
  apply a_step with r (listed rest) os (if within bd all then threads (spawn r) else []); auto. simpl. rewrite Pd, Pb. reflexivity.
Qed.

(* Rules as in [rule_index]. *)
Definition index_of (A : Type) := PM.t (PM.t (list A)).
Definition index_with {A} (make : rule -> A) (rs : list rule) : index_of A := PM.map (PM.map (map make)) (index_rules rs).
Definition packed_index := index_of packed_rule.
Definition pack_rules (rs : list rule) : packed_index := index_with pack rs.
(* Whether f holds for all rules that may be possible in a configuration. *)
Definition all_rules {A} (ix : index_of A) (f : A -> bool) (c : packed_config) : bool :=
  match PM.find (fst c) ix with
  | None => true
  | Some m => forallb f (lookup m 1%positive) && forallb (fun e => forallb f (lookup m (Pos.succ (fst e)))) (snd c)
  end.
Lemma lookup_map {A B} (f : A -> B) m k : lookup (PM.map (map f) m) k = map f (lookup m k).
Proof. unfold lookup. rewrite find_map. destruct (PM.find k m); reflexivity. Qed.
Lemma all_rules_leader {A} (make : rule -> A) rs f r c : all_rules (index_with make rs) f (src r, c) = true -> In r rs ->
  (forall x, leader r = Some x -> In x (map fst c)) -> f (make r) = true.
Proof.
  intros H I L. unfold all_rules, index_with, index_rules in H. simpl fst in H. simpl snd in H. rewrite !find_map in H.
  assert (J : In r (lookup (group src rs) (src r))) by (apply group_iff; auto).
  unfold lookup in J. destruct (PM.find (src r) (group src rs)) as [l|]; [|destruct J]. simpl in H.
  apply andb_true_iff in H as [H1 H2]. rewrite lookup_map in H1. rewrite forallb_forall in H1, H2.
  destruct (leader r) as [x|] eqn:E.
  - specialize (L x eq_refl). apply in_map_iff in L as ([y n] & Ey & Iy). simpl in Ey. subst y.
    specialize (H2 _ Iy). rewrite lookup_map, forallb_forall in H2. apply H2, in_map, group_iff. split; [exact J|].
    unfold leads_key. rewrite E. reflexivity.
  - apply H1, in_map, group_iff. split; [exact J|]. unfold leads_key. rewrite E. reflexivity.
Qed.
Lemma all_rules_In rs f r c : all_rules (pack_rules rs) f (src r, c) = true -> In r rs -> sub (threads (take r)) (listed c) -> f (pack r) = true.
Proof.
  intros H I S. apply (all_rules_leader pack _ _ _ _ H I). intros x E.
  assert (X : In x (listed c)) by (apply (sub_In _ _ _ S), support_In, least_In, E).
  apply in_flat_map in X as ([y n] & Iy & X). apply repeat_spec in X. simpl in X. subst y. exact (in_map fst _ _ Iy).
Qed.
Lemma all_rules_intro rs f s c : (forall r, In r rs -> src r = s -> f (pack r) = true) -> all_rules (pack_rules rs) f (s, c) = true.
Proof.
  intros H. unfold all_rules, pack_rules, index_with, index_rules. simpl fst. simpl snd. rewrite !find_map.
  destruct (PM.find s (group src rs)) as [l|] eqn:F; [|reflexivity]. simpl.
  assert (K : forall k, forallb f (lookup (PM.map (map pack) (group leads_key l)) k) = true).
  { intros k. rewrite lookup_map. apply forallb_forall. intros p I. apply in_map_iff in I as (r & <- & I). apply group_iff in I as [I _].
    assert (J : In r (lookup (group src rs) s)) by (unfold lookup; rewrite F; exact I). apply group_iff in J as [J E]. auto. }
  rewrite K. apply forallb_forall. intros e _. apply K.
Qed.
(* Whether no step is possible. *)
Definition nothing {A} (l : list A) : bool := match l with [] => true | _ => false end.
Definition stuck (bd : bound) (ix : packed_index) (c : packed_config) : bool := all_rules ix (fun r => nothing (packed_fire bd r (snd c))) c.
Lemma stuck_spec bd sys c c' : Permutation (snd c) (listed c') ->
  stuck bd (pack_rules (rules sys)) (fst c, c') = true <-> forall d, ~ step bd sys c d.
Proof.
  intros P. split.
  - intros H d S. destruct (packed_fire_complete bd sys c c' d P S) as (r & d' & Ir & F & _ & Su & Id & _).
    unfold stuck in H. rewrite F in H. apply all_rules_In with (r := r) in H; [|exact Ir | exact Su]. simpl snd in H.
    destruct (packed_fire bd (pack r) c'); [destruct Id | discriminate].
  - intros H. apply all_rules_intro. intros r Ir E. simpl snd. destruct (packed_fire bd (pack r) c') as [|d' l] eqn:F; [reflexivity|].
    exfalso. apply (H (dst r, listed d')). apply (packed_fire_sound bd sys r c c' d'); auto. rewrite F. left; reflexivity.
Qed.

(* ---- sets: a tree with a branch for each entry ---- *)
Inductive packed_set := Packed_set (ends : bool) (next : PM.t (PM.t packed_set)).
Definition no_packed : packed_set := Packed_set false (PM.empty _).
Fixpoint holds_packed (t : packed_set) (e : packed) {struct e} : bool :=
  match t with
  | Packed_set ends next =>
    match e with
    | [] => ends
    | (x, N0) :: _ => false
    | (x, Npos n) :: e =>
      match PM.find x next with
      | None => false
      | Some m => match PM.find n m with None => false | Some t => holds_packed t e end
      end
    end
  end.
Definition branch {A} (m : option (PM.t A)) : PM.t A := match m with Some m => m | None => PM.empty _ end.
Fixpoint add_packed (e : packed) (t : packed_set) {struct e} : packed_set :=
  match t with
  | Packed_set ends next =>
    match e with
    | [] => Packed_set true next
    | (x, N0) :: _ => t
    | (x, Npos n) :: e =>
      let m := branch (PM.find x next) in
      Packed_set ends (PM.add x (PM.add n (add_packed e (match PM.find n m with Some t => t | None => no_packed end)) m) next)
    end
  end.
Lemma holds_none e : holds_packed no_packed e = false.
Proof. destruct e as [|[x [|n]] e]; simpl; auto. rewrite PM.gempty. reflexivity. Qed.
Lemma holds_add a : forall e t, holds_packed (add_packed a t) e = true -> e = a \/ holds_packed t e = true.
Proof.
  induction a as [|[x [|n]] a IH]; intros e [ends next]; simpl add_packed; [|auto|].
  - destruct e as [|[y [|m]] e]; simpl; auto.
  - destruct e as [|[y [|k]] e]; simpl; auto. destruct (Pos.eq_dec y x) as [->|NE]; [|rewrite PM.gso by exact NE; auto].
    rewrite PM.gss. destruct (Pos.eq_dec k n) as [->|NE].
    + rewrite PM.gss. intros H. apply IH in H as [->|H]; [auto|]. right.
      destruct (PM.find x next) as [m|]; simpl in H; [|rewrite PM.gempty, holds_none in H; discriminate].
      destruct (PM.find n m); [exact H | rewrite holds_none in H; discriminate].
    + rewrite PM.gso by exact NE. destruct (PM.find x next) as [m|]; simpl; [auto|]. rewrite PM.gempty. auto.
Qed.
Definition packed_sets := PM.t packed_set.
Definition add_config (m : packed_sets) (c : packed_config) : packed_sets :=
  PM.add (fst c) (add_packed (snd c) (match PM.find (fst c) m with Some t => t | None => no_packed end)) m.
Definition pack_set (D : list packed_config) : packed_sets := fold_left add_config D (PM.empty _).
Definition holds (m : packed_sets) (s : positive) (e : packed) : bool := match PM.find s m with None => false | Some t => holds_packed t e end.
Lemma holds_pack_set D : forall m s e, holds (fold_left add_config D m) s e = true -> In (s, e) D \/ holds m s e = true.
Proof.
  induction D as [|[s' e'] D IH]; simpl; intros m s e H; [auto|]. apply IH in H as [H|H]; [auto|].
  unfold add_config, holds in H. simpl in H. unfold holds. destruct (Pos.eq_dec s s') as [->|NE].
  - rewrite PM.gss in H. apply holds_add in H as [->|H]; [auto|]. destruct (PM.find s' m); [auto | rewrite holds_none in H; discriminate].
  - rewrite PM.gso in H by exact NE. auto.
Qed.
Lemma pack_set_mem D s e : In (s, e) D -> PM.mem s (pack_set D) = true.
Proof.
  unfold pack_set. generalize (PM.empty packed_set) as m. assert (K : forall D m, PM.mem s m = true -> PM.mem s (fold_left add_config D m) = true).
  { intros D'. induction D' as [|c D' IH]; simpl; intros m H; [exact H|]. apply IH. unfold add_config. rewrite PM.mem_find in *.
    destruct (Pos.eq_dec s (fst c)) as [->|NE]; [rewrite PM.gss; reflexivity | rewrite PM.gso by exact NE; exact H]. }
  induction D as [|c D IH]; simpl; intros m I; [destruct I|]. destruct I as [->|I]; [|apply IH, I].
  apply K. unfold add_config. rewrite PM.mem_find, PM.gss. reflexivity.
Qed.
Definition member (D : list packed_config) (c : config) := exists d, In (fst c, d) D /\ Permutation (snd c) (listed d).
Lemma holds_member D c e : Permutation (snd c) (listed e) -> holds (pack_set D) (fst c) e = true -> member D c.
Proof.
  intros P H. apply holds_pack_set in H as [I|H]; [exists e; auto|]. unfold holds in H. rewrite PM.gempty in H. discriminate.
Qed.

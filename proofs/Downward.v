(* Downward closed sets: configurations with any number of some threads (ω), for systems in which presence blocks nothing. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive MSetPositive MSetFacts.
Require Import System Multiset Firing Index Packed Trace.
Import ListNotations.

(* Exactly so many threads of some local states, and any number of others. *)
Definition ideal := (bag * PS.t)%type.
Definition only (keep : positive -> bool) (b : bag) : bag :=
  PM.fold (fun l n acc => if keep l then PM.add l n acc else acc) b no_threads.
Definition counts_out (m : ideal) (l : positive) : bool := negb (PS.mem l (snd m)).
Definition below (m : ideal) (c : list positive) := sub (filter (counts_out m) c) (threads (fst m)).
Definition holds_entries (m : ideal) (es : list (positive * N)) : bool :=
  forallb (fun e => PS.mem (fst e) (snd m) || N.leb (snd e) (many (fst m) (fst e))) es.
Definition belowb (m : ideal) (c : bag) : bool := holds_entries m (entries c).
Definition ideal_leb (m n : ideal) : bool := belowb n (fst m) && PS.subset (snd m) (snd n).
Definition downward := PM.t (list ideal).
Definition inside (D : downward) (c : config) := exists m, In m (lookup D (fst c)) /\ below m (snd c).

Lemma cnt_filter f l x : cnt (filter f l) x = if f x then cnt l x else 0.
Proof.
  unfold cnt. induction l as [|y l IH]; simpl; [destruct (f x); auto|].
  destruct (f y) eqn:E; simpl; destruct (Pos.eq_dec y x); subst; rewrite ?IH, ?E; auto.
Qed.
Lemma below_iff m c : below m c <-> forall x, PS.mem x (snd m) = false -> cnt c x <= cnt (threads (fst m)) x.
Proof.
  unfold below. rewrite sub_cnt. split; intros H x; specialize (H x); rewrite cnt_filter in *; unfold counts_out in *; destruct (PS.mem x (snd m)); simpl in *; auto; try lia; discriminate.
Qed.
Lemma belowb_below m c : belowb m c = true <-> below m (threads c).
Proof.
  rewrite below_iff. unfold belowb, holds_entries. rewrite entries_elements, forallb_forall. split.
  - intros H x Nx. rewrite !cnt_threads. unfold many at 1. destruct (PM.find x c) as [n|] eqn:F; [|lia]. apply PM.elements_correct in F.
    specialize (H _ F). simpl in H. rewrite Nx in H. simpl in H. apply N.leb_le in H. lia.
  - intros H [x n] I. simpl. destruct (PS.mem x (snd m)) eqn:E; [auto|]. simpl. apply N.leb_le. apply PM.elements_complete in I.
    specialize (H x E). rewrite !cnt_threads in H. unfold many at 1 in H. rewrite I in H. lia.
Qed.
Lemma ideal_leb_below m n c extra : ideal_leb m n = true -> Forall (fun x => PS.mem x (snd m) = true) extra ->
  sub c (threads (fst m) ++ extra) -> below n c.
Proof.
  intros H E S. apply andb_true_iff in H as [H1 H2]. apply belowb_below in H1. rewrite below_iff in *. apply PS.subset_spec in H2.
  intros x Nx. specialize (H1 x Nx). rewrite sub_cnt in S. specialize (S x). rewrite cnt_app in S.
  assert (Z : cnt extra x = 0); [|lia]. destruct (cnt extra x) eqn:C; [auto|]. exfalso.
  assert (I : In x extra) by (apply cnt_In; lia). rewrite Forall_forall in E. specialize (E x I). apply (H2 x) in E. unfold PS.In in E. congruence.
Qed.

(* Where any number of threads of some states may go. *)
Definition image (r : rule) (s : PS.t) : PS.t :=
  if stays r then s else fold_right (fun l acc => fold_right PS.add acc (present (fates r l))) PS.empty (PS.elements s).
Lemma mem_add x y s : PS.mem x (PS.add y s) = true <-> x = y \/ PS.mem x s = true.
Proof. rewrite !PS.mem_spec, PS.add_spec. reflexivity. Qed.
Lemma mem_adds x ls s : PS.mem x (fold_right PS.add s ls) = true <-> In x ls \/ PS.mem x s = true.
Proof. induction ls as [|y ls IH]; simpl; [tauto|]. rewrite mem_add, IH. intuition congruence. Qed.
Lemma elements_mem x s : In x (PS.elements s) <-> PS.mem x s = true.
Proof. rewrite PS.mem_spec, <- PS.elements_spec1, SetoidList.InA_alt. split.
  - intros I. exists x. split; [reflexivity | exact I].
  - intros (y & E & I). change (x = y) in E. subst. exact I.
Qed.
Lemma image_In r s l y : PS.mem l s = true -> In (Some y) (fates r l) -> PS.mem y (image r s) = true.
Proof.
  unfold image. destruct (stays r) eqn:E.
  - intros M I. rewrite stays_fates in I by exact E. destruct I as [I|[]]. congruence.
  - intros M I. apply elements_mem in M. apply present_In in I. induction (PS.elements s) as [|z zs IH]; [destruct M|].
    simpl. rewrite mem_adds. destruct M as [->|M]; auto.
Qed.

(* [post r m]: ideals that hold all that the rule makes of what is below m. *)
Definition post_of (taken : list (positive * N)) (r : rule) (m : ideal) : list ideal :=
  if holds_entries m taken then
    let rest := only (counts_out m) (minus (fst m) (take r)) in
    map (fun b => (plus (plus (put r) (spawn r)) b, image r (snd m))) (after r rest)
  else [].
Definition post (r : rule) (m : ideal) : list ideal := post_of (entries (take r)) r m.
Definition nonblocking (r : rule) : bool := forallb (fun e => match snd e with [] => false | _ => true end) (PM.elements (moves r)).

(* Ideals of one shared state by their counts, by each local state that they have, and all of them, with how many there are. *)
Definition listing := (N * list ideal)%type.
Definition count_all (ms : list ideal) : listing := (N.of_nat (length ms), ms).
Definition by_local (ms : list ideal) : PM.t listing :=
  PM.map (fun l => count_all (map snd l))
    (group fst (flat_map (fun m : ideal => map (fun x => (x, m)) (support (fst m) ++ PS.elements (snd m))) ms)).
Record ideals := { same : PM.t (list ideal); with_local : PM.t listing; every : listing }.
Definition index_ideals (ms : list ideal) : ideals :=
  {| same := group (fun m : ideal => bag_key (fst m)) ms; with_local := by_local ms; every := count_all ms |}.
(* What holds n has each of its local states: those with the rarest are candidates. *)
Definition candidates (ix : ideals) (n : ideal) : list ideal :=
  snd (fold_right (fun x (best : listing) => match PM.find x (with_local ix) with
      | None => (0%N, [])
      | Some l => if N.leb (fst best) (fst l) then best else l
      end) (every ix) (support (fst n) ++ PS.elements (snd n))).
(* First one with the same counts, then the candidates. *)
Definition has (X : PM.t ideals) (s : positive) (n : ideal) : bool :=
  match PM.find s X with
  | None => false
  | Some ix =>
    let es := entries (fst n) in
    let holds m := holds_entries m es && PS.subset (snd n) (snd m) in
    existsb holds (lookup (same ix) (bag_key (fst n))) || existsb holds (candidates ix n)
  end.
(* Its local states, for the index of rules. *)
Definition locals_of (m : ideal) : packed := entries (fst m) ++ map (fun l => (l, 1%N)) (PS.elements (snd m)).
Definition check_downward (sys : system) (targets : list counted) (D : downward) : bool :=
  let X := PM.map index_ideals D in
  let rx := index_with (fun r => (entries (take r), r)) (filter (fun r => PM.mem (src r) D) (rules sys)) in
  forallb nonblocking (rules sys)
  && forallb (fun t : counted => let (s, b) := t in let es := entries b in negb (existsb (fun m => holds_entries m es) (lookup D s))) targets
  && forallb (fun f => has X (at_shared f) (fixed f, fold_right PS.add PS.empty (any f))) (families sys)
  && forallb (fun e : positive * list ideal => forallb (fun m => all_rules rx (fun r => let d := dst (snd r) in
       forallb (fun n => (Pos.eqb (fst e) d && ideal_leb n m) || has X d n) (post_of (fst r) (snd r) m)) (fst e, locals_of m)) (snd e)) (PM.elements D).

Lemma candidates_In ms n m : In m (candidates (index_ideals ms) n) -> In m ms.
Proof.
  unfold candidates. set (xs := support (fst n) ++ _). generalize xs. intros l. induction l as [|x l IH]; [exact id|].
  cbn [fold_right]. destruct (PM.find x (with_local (index_ideals ms))) as [found|] eqn:F; [|intros []].
  destruct (N.leb _ _); [exact IH|]. intros I. simpl in F. unfold by_local in F. rewrite find_map in F.
  destruct (PM.find x (group _ _)) as [g|] eqn:G; [|discriminate]. injection F as <-. simpl in I.
  apply in_map_iff in I as (p & <- & I). set (ps := flat_map _ ms) in *.
  assert (J : In p (lookup (group fst ps) x)) by (unfold lookup; rewrite G; exact I).
  apply group_iff in J as [J _]. apply in_flat_map in J as (m' & Im & J). apply in_map_iff in J as (y & <- & _). exact Im.
Qed.
Lemma has_In D s n : has (PM.map index_ideals D) s n = true -> exists m, In m (lookup D s) /\ ideal_leb n m = true.
Proof.
  unfold has, lookup at 2. rewrite find_map. destruct (PM.find s D) as [ms|]; simpl; [|discriminate].
  intros H. apply orb_true_iff in H as [H|H]; apply existsb_exists in H as (m & I & L); exists m; split; auto.
  - apply group_iff in I as [I _]. exact I.
  - exact (candidates_In ms n m I).
Qed.
Lemma nonblocking_moved r ls : nonblocking r = true -> exists os, moved r ls os.
Proof.
  intros H. induction ls as [|l ls [os IH]]; [exists []; constructor|].
  assert (K : exists o, In o (fates r l)).
  { unfold nonblocking, fates in *. rewrite forallb_forall in H. destruct (PM.find l (moves r)) as [os'|] eqn:F.
    - apply PM.elements_correct in F. specialize (H _ F). simpl in H. destruct os' as [|o os']; [discriminate|]. exists o; left; auto.
    - exists (Some l). left; auto. }
  destruct K as [o I]. exists (o :: os). constructor; auto.
Qed.
Lemma many_only keep b x : many (only keep b) x = if keep x then many b x else 0%N.
Proof.
  unfold only. rewrite PM.fold_1. 
  assert (K : forall es acc, NoDupA (@PM.eq_key N) es ->
    (forall n, In (x, n) es -> many (fold_left (fun a p => if keep (fst p) then PM.add (fst p) (snd p) a else a) es acc) x = if keep x then n else many acc x)
    /\ ((forall n, ~ In (x, n) es) -> many (fold_left (fun a p => if keep (fst p) then PM.add (fst p) (snd p) a else a) es acc) x = many acc x)).
  { induction es as [|[y n] es IH]; intros acc ND; simpl.
    - split; [intros n []|auto].
    - inversion ND as [|z zs NI ND']; subst. assert (Q : forall k, y = x -> ~ In (x, k) es).
      { intros k -> J. apply NI. apply SetoidList.InA_alt. exists (x, k). split; [reflexivity | exact J]. }
      split.
      + intros m [E|I].
        * injection E as -> ->. destruct (IH (if keep x then PM.add x m acc else acc) ND') as [_ IH2]. rewrite IH2 by (intros k; apply Q; auto).
          destruct (keep x); [unfold many; rewrite PM.gss|]; auto.
        * destruct (IH (if keep y then PM.add y n acc else acc) ND') as [IH1 _]. rewrite (IH1 m I). destruct (Pos.eq_dec y x) as [->|NE]; [destruct (Q m eq_refl I)|].
          destruct (keep x); [auto|]. destruct (keep y); [unfold many; rewrite PM.gso by congruence|]; auto.
      + intros H. destruct (IH (if keep y then PM.add y n acc else acc) ND') as [_ IH2]. rewrite IH2 by (intros k I; apply (H k); auto).
        destruct (Pos.eq_dec y x) as [->|NE]; [destruct (H n); auto|]. destruct (keep y); [unfold many; rewrite PM.gso by congruence|]; auto. }
  destruct (K (PM.elements b) no_threads (PM.elements_3w b)) as [K1 K2]. unfold many at 2. destruct (PM.find x b) as [n|] eqn:F.
  - apply PM.elements_correct in F. etransitivity; [exact (K1 n F)|]. rewrite many_none. reflexivity.
  - etransitivity; [apply K2; intros n I; apply PM.elements_complete in I; congruence|]. rewrite many_none. destruct (keep x); auto.
Qed.
Lemma filter_split {A} (f : A -> bool) l : Permutation l (filter f l ++ filter (fun x => negb (f x)) l).
Proof.
  induction l as [|x l IH]; simpl; [auto|]. destruct (f x); simpl; [auto|]. rewrite IH at 1. apply Permutation_middle.
Qed.

Lemma post_complete r m c d : nonblocking r = true -> loose_step r c d -> below m (snd c) ->
  exists n extra, In n (post r m) /\ Forall (fun x => PS.mem x (snd n) = true) extra /\ sub (snd d) (threads (fst n) ++ extra).
Proof.
  intros N L B. apply loose_below in L as (rest & os & F & T & P & M & D).
  set (f := counts_out m). set (left := only f (minus (fst m) (take r))).
  rewrite below_iff in B. rewrite perm_cnt in P.
  assert (Tb : belowb m (take r) = true).
  { apply belowb_below, below_iff. intros x Nx. specialize (B x Nx). rewrite P, cnt_app in B. lia. }
  assert (Ls : exists e, Permutation (threads left) (filter f rest ++ e)).
  { apply sub_cnt. intros x. rewrite cnt_filter, cnt_threads. unfold left. rewrite many_only. unfold f at 1 2, counts_out.
    destruct (PS.mem x (snd m)) eqn:E; simpl; [lia|]. specialize (B x E). rewrite P, cnt_app, !cnt_threads in B. rewrite many_minus. lia. }
  destruct Ls as [e E].
  destruct (Forall2_perm _ _ _ (filter_split f rest) _ M) as (os' & M' & P').
  apply Forall2_app_inv_l in M' as (o1 & o2 & M1 & M2 & ->).
  destruct (nonblocking_moved r e N) as [o3 M3].
  destruct (Forall2_perm _ _ _ (Permutation_sym E) _ (Forall2_app M1 M3)) as (o4 & M4 & P4).
  destruct (after_complete r left o4 M4) as (b & Ib & Pb).
  exists (plus (plus (put r) (spawn r)) b, image r (snd m)), (present o2). split; [|split].
  - unfold post, post_of. fold (belowb m (take r)). rewrite Tb. apply in_map_iff. exists b. auto.
  - apply Forall_forall. intros y I. simpl. destruct (moved_In _ _ _ M2 y I) as (a & Ia & Iy). apply filter_In in Ia as [_ Ia].
    unfold f, counts_out in Ia. rewrite negb_involutive in Ia. eapply image_In; eauto.
  - simpl. apply present_perm in P', P4. rewrite present_app in P', P4. rewrite perm_cnt in P', P4, Pb. rewrite sub_cnt in *.
    intros x. specialize (D x). specialize (P' x). specialize (P4 x). specialize (Pb x).
    rewrite cnt_app, (cnt_threads (plus _ _)), !many_plus. rewrite !cnt_app, !cnt_threads in *. lia.
Qed.

Lemma locals_of_leader m r x : holds_entries m (entries (take r)) = true -> leader r = Some x -> In x (map fst (locals_of m)).
Proof.
  unfold holds_entries. rewrite forallb_forall. intros H L. apply least_In in L. unfold support in L. apply in_map_iff in L as ([y n] & Ey & I). simpl in Ey. subst y.
  apply filter_In in I as [I N]. specialize (H _ I). simpl in H, N. apply negb_true_iff, N.eqb_neq in N. unfold locals_of. rewrite map_app. apply in_or_app.
  apply orb_true_iff in H as [H|H].
  - right. apply elements_mem in H. rewrite map_map. apply in_map_iff. exists x. auto.
  - left. apply N.leb_le in H. unfold many in H. destruct (PM.find x (fst m)) as [k|] eqn:F; [|lia]. apply PM.elements_correct in F.
    rewrite <- entries_elements in F. exact (in_map fst _ _ F).
Qed.
Lemma check_downward_inside bd sys targets D : check_downward sys targets D = true -> forall c, reachable bd sys c -> inside D c.
Proof.
  intros H. apply andb_true_iff in H as [H H4]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  rewrite forallb_forall in H1, H3, H4.
  intros c R. induction R as [c I | c d R (m & Im & Bm) S].
  - destruct I as (f & extra & If & E & A & P & _). specialize (H3 f If). apply has_In in H3 as (m & Im & Lm).
    exists m. rewrite E. split; [auto|]. apply (ideal_leb_below _ m (snd c) extra Lm).
    + eapply Forall_impl; [|exact A]. simpl. intros x I. apply mem_adds. auto.
    + simpl. exists []. rewrite app_nil_r. symmetry. exact P.
  - apply step_loose in S as (r & Ir & S). destruct (post_complete r m c d (H1 r Ir) S Bm) as (n & extra & In_ & A & Sn).
    apply loose_below in S as (rest & os & F & T & _). rewrite F in Im. unfold lookup in Im. destruct (PM.find (src r) D) as [ms|] eqn:Fs; [|destruct Im].
    assert (Me : PM.mem (src r) D = true) by (rewrite PM.mem_find, Fs; reflexivity).
    assert (Es := PM.elements_correct _ _ Fs). specialize (H4 _ Es). simpl snd in H4. rewrite forallb_forall in H4. specialize (H4 m Im). simpl fst in H4.
    apply all_rules_leader with (r := r) in H4; [|apply filter_In; split; assumption|].
    2: { intros x. apply locals_of_leader. unfold post, post_of in In_. destruct (holds_entries m (entries (take r))); [reflexivity | destruct In_]. }
    simpl snd in H4. simpl fst in H4. rewrite forallb_forall in H4. specialize (H4 n In_). assert (Is : In m (lookup D (src r))) by (unfold lookup; rewrite Fs; exact Im).
    assert (K : exists m', In m' (lookup D (dst r)) /\ ideal_leb n m' = true).
    { apply orb_true_iff in H4 as [H4|H4]; [|apply has_In, H4]. apply andb_true_iff in H4 as [E L]. apply Pos.eqb_eq in E. exists m. rewrite <- E. auto. }
    destruct K as (m' & Im' & L').
    exists m'. rewrite T. split; [auto|]. exact (ideal_leb_below n m' (snd d) extra L' A Sn).
Qed.
Theorem check_downward_sound bd sys targets D : check_downward sys targets D = true -> ~ reaches bd sys targets.
Proof.
  intros H (c & t & R & It & [C1 C2]). destruct (check_downward_inside bd sys targets D H c R) as (m & Im & Bm).
  apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [_ H].
  rewrite forallb_forall in H. specialize (H t It). destruct t as [s b]. apply negb_true_iff, Bool.not_true_iff_false in H. apply H.
  apply existsb_exists. exists m. simpl in C1. subst s. split; [exact Im|]. apply belowb_below. rewrite below_iff in *. intros x Nx. specialize (Bm x Nx).
  assert (C3 : sub (threads b) (snd c)) by exact C2. rewrite sub_cnt in C3. specialize (C3 x). lia.
Qed.

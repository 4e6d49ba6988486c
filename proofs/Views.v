(* Pair views: which local states may occur together with a shared state. *)
Require Import List Bool Arith NArith PArith Lia Permutation Sorted.
Require Import FMapPositive MSetPositive.
Require Import System Multiset Firing Index Trace Downward.
Import ListNotations.

(* ---- all pairs of a list ---- *)
Section Pairs.
  Variables (R : positive -> positive -> Prop).
  Lemma pairs_app l l' : ForallOrdPairs R (l ++ l') <->
    ForallOrdPairs R l /\ ForallOrdPairs R l' /\ (forall a b, In a l -> In b l' -> R a b).
  Proof.
    induction l as [|x l IH]; simpl.
    - split; [intros H; repeat split; auto; [constructor | tauto] | tauto].
    - split.
      + intros H. inversion H; subst. apply IH in H3 as (A & B & C). rewrite Forall_app in H2.
        destruct H2 as [H2 H4]. repeat split; [constructor; auto | auto |].
        intros a b [<-|I] J; [rewrite Forall_forall in H4; auto | auto].
      + intros (A & B & C). inversion A; subst. constructor.
        * apply Forall_app. split; [auto|]. apply Forall_forall. intros b J. apply C; auto.
        * apply IH. repeat split; auto.
  Qed.
  Hypothesis sym : forall a b, R a b -> R b a.
  Lemma pairs_cnt l : ForallOrdPairs R l <-> forall a b, In a l -> In b l -> a <> b \/ cnt l a >= 2 -> R a b.
  Proof.
    induction l as [|x t IH].
    - split; [intros _ a b []|constructor].
    - assert (Cx : forall a, cnt (x :: t) a = (if Pos.eq_dec x a then 1 else 0) + cnt t a).
      { intros a. unfold cnt. simpl. destruct (Pos.eq_dec x a); auto. }
      split.
      + intros F a b Ia Ib D. inversion F as [|y ys A B]; subst. rewrite Forall_forall in A. rewrite Cx in D. rewrite IH in B.
        destruct Ia as [<-|Ia], Ib as [<-|Ib].
        * apply A, cnt_In. destruct (Pos.eq_dec x x); lia.
        * apply A, Ib.
        * apply sym, A, Ia.
        * destruct (Pos.eq_dec a b) as [<-|NE]; [|apply B; auto]. destruct (Pos.eq_dec x a) as [<-|NX]; [apply A, Ia|].
          apply B; auto; right; lia.
      + intros H. constructor.
        * apply Forall_forall. intros y Iy. apply H; [left | right |]; auto. destruct (Pos.eq_dec x y) as [<-|NE]; [|auto].
          right. rewrite Cx. apply cnt_In in Iy. destruct (Pos.eq_dec x x); lia.
        * apply IH. intros a b Ia Ib D. apply H; [right | right |]; auto. rewrite Cx. destruct D; [auto | right; lia].
  Qed.
End Pairs.

(* ---- views ---- *)
(* For each shared state: a class for each local state that may be there, and with each class those that may be there as well. Many local states
   have the same partners, and those of one class are looked at once. *)
Record partners := { class_of : PM.t positive; rows : PM.t PS.t }.
Definition views := PM.t partners.
Definition class_row (g : partners) (c : positive) : PS.t := match PM.find c (rows g) with Some s => s | None => PS.empty end.
Definition row (g : partners) (a : positive) : PS.t := match PM.find a (class_of g) with Some c => class_row g c | None => PS.empty end.
Definition pair (g : partners) (a b : positive) : bool := PS.mem b (row g a).
Definition single (g : partners) (a : positive) : bool := PM.mem a (class_of g).
Definition states (g : partners) : PS.t := fold_right PS.add PS.empty (map fst (PM.elements (class_of g))).
Definition classes (g : partners) (l : list positive) : list positive :=
  PS.elements (fold_right PS.add PS.empty (flat_map (fun a => match PM.find a (class_of g) with Some c => [c] | None => [] end) l)).
(* Those of class c with members of class d: then all of class c are partners of class d. *)
Definition symmetric (g : partners) : bool :=
  forallb (fun e => let s := class_row g (fst e) in
    PS.subset s (states g)
    && forallb (fun d => forallb (fun m => PS.mem (fst m) (class_row g d)) (snd e)) (classes g (PS.elements s)))
    (PM.elements (group snd (PM.elements (class_of g)))).
Definition together (g : partners) (b : bag) : bool :=
  let s := support b in
  forallb (fun a => single g a && (N.leb (many b a) 1 || pair g a a) && forallb (fun c => Pos.eqb a c || pair g a c) s) s.
Definition builtb (V : views) (c : counted) : bool :=
  match PM.find (fst c) V with Some g => together g (snd c) | None => false end.

Definition Together (g : partners) (l : list positive) :=
  Forall (fun a => single g a = true) l /\ ForallOrdPairs (fun a b => pair g a b = true) l.
Definition built (V : views) (c : config) := exists g, PM.find (fst c) V = Some g /\ Together g (snd c).

Lemma subset_mem s t x : PS.subset s t = true -> PS.mem x s = true -> PS.mem x t = true.
Proof. intros H M. apply PS.subset_spec in H. apply PS.mem_spec, H, PS.mem_spec, M. Qed.
Lemma states_mem g x : PS.mem x (states g) = true <-> single g x = true.
Proof.
  unfold states, single. rewrite mem_adds, PM.mem_find, in_map_iff. split.
  - intros [([y c] & E & I)|M]; [|rewrite PS.mem_spec in M; destruct (PS.empty_spec M)]. simpl in E. subst y.
    rewrite (PM.elements_complete _ _ _ I). reflexivity.
  - destruct (PM.find x (class_of g)) as [c|] eqn:F; [|discriminate]. intros _. left. exists (x, c). split; [auto | apply PM.elements_correct, F].
Qed.
Lemma classes_In g l a c : In a l -> PM.find a (class_of g) = Some c -> In c (classes g l).
Proof.
  intros I F. unfold classes. apply elements_mem, mem_adds. left. apply in_flat_map. exists a. split; [exact I|]. rewrite F. left; auto.
Qed.
Lemma symmetric_pair g a b : symmetric g = true -> pair g a b = true -> pair g b a = true.
Proof.
  unfold symmetric, pair, row. rewrite forallb_forall. intros H M. destruct (PM.find a (class_of g)) as [c|] eqn:F; [|rewrite PS.mem_spec in M; destruct (PS.empty_spec M)].
  assert (I : In (a, c) (lookup (group snd (PM.elements (class_of g))) c)) by (apply group_iff; split; [apply PM.elements_correct, F | auto]).
  unfold lookup in I. destruct (PM.find c (group snd (PM.elements (class_of g)))) as [l|] eqn:G; [|destruct I].
  apply PM.elements_correct in G. specialize (H _ G). simpl in H. apply andb_true_iff in H as [H1 H2]. rewrite forallb_forall in H2.
  assert (S := subset_mem _ _ _ H1 M). apply states_mem in S. unfold single in S. rewrite PM.mem_find in S.
  destruct (PM.find b (class_of g)) as [d|] eqn:Fb; [|discriminate]. apply elements_mem in M.
  specialize (H2 d (classes_In g _ b d M Fb)). rewrite forallb_forall in H2. exact (H2 _ I).
Qed.
Section Symmetric.
  Variables (g : partners).
  Hypothesis sym : symmetric g = true.
  Let psym a b := symmetric_pair g a b sym.
  Lemma together_iff b : together g b = true <-> Together g (threads b).
  Proof.
    unfold Together. rewrite (pairs_cnt _ psym), Forall_forall. unfold together. rewrite forallb_forall. split.
    - intros H. split.
      + intros a I. apply support_In in I. specialize (H a I). apply andb_true_iff in H as [H _]. apply andb_true_iff in H. tauto.
      + intros a c Ia Ic D. apply support_In in Ia, Ic. specialize (H a Ia). apply andb_true_iff in H as [H1 H2]. apply andb_true_iff in H1 as [_ H1].
        rewrite forallb_forall in H2. specialize (H2 c Ic). destruct (Pos.eqb_spec a c) as [E|NE]; [subst c|exact H2].
        destruct D as [D|D]; [congruence|]. apply orb_true_iff in H1 as [H1|H1]; [|exact H1]. apply N.leb_le in H1. rewrite cnt_threads in D. lia.
    - intros [H1 H2] a Ia. apply support_In in Ia. rewrite (H1 a Ia). simpl. apply andb_true_iff. split.
      + apply orb_true_iff. destruct (N.leb_spec (many b a) 1); [auto|]. right. apply H2; auto. right. rewrite cnt_threads. lia.
      + apply forallb_forall. intros c Ic. apply support_In in Ic. destruct (Pos.eqb_spec a c) as [|NE]; [auto|]. apply H2; auto.
  Qed.
  Lemma Together_sub l l' : sub l l' -> Together g l' -> Together g l.
  Proof.
    unfold Together. rewrite !(pairs_cnt _ psym), !Forall_forall. intros S [A B]. split.
    - intros a I. apply A. eapply sub_In; eauto.
    - intros a b Ia Ib D. apply B; try (eapply sub_In; eauto; fail). rewrite sub_cnt in S. specialize (S a). destruct D; [auto | right; lia].
  Qed.
  Lemma Together_perm l l' : Permutation l l' -> Together g l -> Together g l'.
  Proof. intros P. apply Together_sub. exists []. rewrite app_nil_r. exact P. Qed.
End Symmetric.
Lemma Together_app g l l' : Together g (l ++ l') <->
  Together g l /\ Together g l' /\ (forall a b, In a l -> In b l' -> pair g a b = true).
Proof. unfold Together. rewrite Forall_app, pairs_app. tauto. Qed.

(* ---- the check ---- *)
(* Those that may be there with all that is taken. *)
Definition bystanders (g : partners) (taken : bag) : PS.t :=
  match support taken with
  | [] => states g
  | t :: ts => fold_right (fun u s => PS.inter (row g u) s) (row g t) ts
  end.
(* What b is with, and what it becomes: bystanders that were there together have to be allowed together, class by class. *)
Definition check_bystanders (g h : partners) (r : rule) (by_ : PS.t) : bool :=
  let arrivals := flat_map (fun b => match PM.find b (class_of g) with Some c => map (fun y => (c, y)) (present (fates r b)) | None => [] end) (PS.elements by_) in
  forallb (fun e => let others := image r (PS.inter (class_row g (fst e)) by_) in
    forallb (fun d => PS.subset others (class_row h d)) (classes h (map snd (snd e)))) (PM.elements (group fst arrivals)).
Definition check_views_step (V : views) (r : rule) : bool :=
  match PM.find (src r) V with
  | None => true
  | Some g =>
    if together g (take r) then
      match PM.find (dst r) V with
      | None => false
      | Some h =>
        let arrived := plus (put r) (spawn r) in
        let by_ := bystanders g (take r) in
        let others := image r by_ in
        together h arrived
        && ((Pos.eqb (src r) (dst r) && stays r) || forallb (single h) (PS.elements others))
        && forallb (fun a => PS.subset others (row h a)) (support arrived)
        && ((Pos.eqb (src r) (dst r) && stays r)
            || check_bystanders g h r by_)
      end
    else true
  end.
Definition check_views_start (V : views) (f : family) : bool :=
  match PM.find (at_shared f) V with
  | None => false
  | Some g => together g (fixed f) && forallb (single g) (any f)
      && forallb (fun a => forallb (pair g a) (any f)) (support (fixed f) ++ any f)
  end.
Definition check_views (sys : system) (V : views) : bool :=
  forallb (fun e => symmetric (snd e)) (PM.elements V)
  && forallb (check_views_start V) (families sys) && forallb (check_views_step V) (rules sys).

Lemma views_symmetric V s g : forallb (fun e => symmetric (snd e)) (PM.elements V) = true -> PM.find s V = Some g -> symmetric g = true.
Proof. intros H F. rewrite forallb_forall in H. apply PM.elements_correct in F. exact (H _ F). Qed.
Lemma mem_inter x s t : PS.mem x (PS.inter s t) = true <-> PS.mem x s = true /\ PS.mem x t = true.
Proof. rewrite !PS.mem_spec. apply PS.inter_spec. Qed.
Lemma check_bystanders_pair g h r by_ b m y : check_bystanders g h r by_ = true -> PS.mem b by_ = true -> single g b = true ->
  In m (present (fates r b)) -> single h m = true -> PS.mem y (image r (PS.inter (row g b) by_)) = true -> pair h m y = true.
Proof.
  unfold check_bystanders, single, pair, row. rewrite !PM.mem_find, forallb_forall. intros H Ib Sb Im Sm M.
  destruct (PM.find b (class_of g)) as [c|] eqn:Fb; [|discriminate]. destruct (PM.find m (class_of h)) as [d|] eqn:Fm; [|discriminate].
  set (arrivals := flat_map _ _) in H. assert (I : In (c, m) (lookup (group fst arrivals) c)).
  { apply group_iff. split; [|auto]. apply in_flat_map. exists b. split; [apply elements_mem, Ib|]. rewrite Fb. apply in_map, Im. }
  unfold lookup in I. destruct (PM.find c (group fst arrivals)) as [l|] eqn:G; [|destruct I]. apply PM.elements_correct in G.
  specialize (H _ G). rewrite forallb_forall in H. apply (subset_mem _ _ _ (H d (classes_In h _ m d (in_map snd _ _ I) Fm)) M).
Qed.
Lemma bystanders_mem g taken rest b : Together g (threads taken ++ rest) -> In b rest -> PS.mem b (bystanders g taken) = true.
Proof.
  intros T I. apply Together_app in T as (_ & [S _] & P). rewrite Forall_forall in S. specialize (S b I).
  assert (Q : forall a, In a (support taken) -> PS.mem b (row g a) = true) by (intros a Ia; apply (P a b); [apply support_In|]; auto).
  unfold bystanders. destruct (support taken) as [|t ts]; [apply states_mem, S|].
  assert (Q' : forall a, In a ts -> PS.mem b (row g a) = true) by (intros a Ia; apply Q; right; auto).
  specialize (Q t (or_introl eq_refl)). clear - Q Q'. induction ts as [|u ts IH]; simpl; [exact Q|]. apply mem_inter. split; [apply Q'; left; auto|].
  apply IH. intros a Ia. apply Q'. right; auto.
Qed.
Lemma views_step V r c d : forallb (fun e => symmetric (snd e)) (PM.elements V) = true ->
  check_views_step V r = true -> loose_step r c d -> built V c -> built V d.
Proof.
  intros Sy H L (g & Fg & Tg). apply loose_below in L as (rest & os & F & T & P & M & D). unfold check_views_step in H. rewrite <- F, Fg in H.
  assert (Sg := views_symmetric _ _ _ Sy Fg). apply (Together_perm g Sg _ _ P) in Tg.
  assert (Tt := Tg). apply Together_app in Tt as (Tt & Tr & Tx).
  apply (together_iff g Sg) in Tt. rewrite Tt in H. rewrite <- T in H.
  destruct (PM.find (fst d) V) as [h|] eqn:Fh; [|discriminate]. assert (Sh := views_symmetric _ _ _ Sy Fh).
  exists h. split; [exact Fh|].
  apply andb_true_iff in H as [H H4]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  apply (together_iff h Sh) in H1. rewrite forallb_forall in H3.
  assert (BI := fun b => bystanders_mem g (take r) rest b Tg).
  apply (Together_sub h Sh _ (threads (plus (put r) (spawn r)) ++ present os)).
  { rewrite sub_cnt in *. intros x. specialize (D x). rewrite cnt_app, cnt_threads, many_plus. rewrite !cnt_app, !cnt_threads in D. lia. }
  assert (K : forall y, In y (present os) -> PS.mem y (image r (bystanders g (take r))) = true).
  { intros y I. destruct (moved_In _ _ _ M y I) as (a & Ia & Iy). eapply image_In; eauto. }
  assert (SH : forall y, In y (present os) -> single h y = true).
  { intros y I. apply orb_true_iff in H2 as [H2|H2]; [|rewrite forallb_forall in H2; apply H2, elements_mem, K, I].
    apply andb_true_iff in H2 as [E St]. apply Pos.eqb_eq in E. apply stays_moved in M; [|exact St]. subst os. rewrite present_Some in I.
    rewrite E, Fh in Fg. injection Fg as ->. destruct Tr as [Sr _]. rewrite Forall_forall in Sr. exact (Sr y I). }
  clear H2. apply Together_app. split; [exact H1|]. split; [split|].
  - apply Forall_forall. exact SH.
  - apply orb_true_iff in H4 as [H4|H4].
    + apply andb_true_iff in H4 as [E St]. apply Pos.eqb_eq in E. apply stays_moved in M; [|exact St]. subst os. rewrite present_Some.
      rewrite E, Fh in Fg. injection Fg as ->. apply Tr.
    + destruct Tr as [Sr Tr]. clear - SH H4 M Sr Tr BI K. induction M as [|a o rest os I M IH]; simpl; [constructor|].
      inversion Tr; subst. inversion Sr; subst.
      assert (K' : forall y, In y (present os) -> PS.mem y (image r (bystanders g (take r))) = true).
      { intros y Iy. apply K. destruct o; [right|]; exact Iy. }
      assert (SH' : forall y, In y (present os) -> single h y = true) by (intros y Iy; apply SH; destruct o; [right|]; exact Iy).
      assert (IH' : ForallOrdPairs (fun a b => pair h a b = true) (present os)) by (apply IH; auto; intros b Ib; apply BI; right; exact Ib).
      destruct o as [m|]; [|exact IH']. constructor; [|exact IH'].
      apply Forall_forall. intros y Iy. destruct (moved_In _ _ _ M y Iy) as (b & Ib & Jb).
      apply (check_bystanders_pair g h r (bystanders g (take r)) a); auto.
      * apply BI. left; auto.
      * apply present_In, I.
      * apply SH. left; auto.
      * apply (image_In r _ b); [|exact Jb]. apply mem_inter. split; [|apply BI; right; exact Ib]. rewrite Forall_forall in H1. apply (H1 b Ib).
  - intros a y Ia Iy. apply support_In in Ia. exact (subset_mem _ _ _ (H3 a Ia) (K y Iy)).
Qed.
Lemma views_start bd sys V c : forallb (fun e => symmetric (snd e)) (PM.elements V) = true ->
  forallb (check_views_start V) (families sys) = true -> initial bd sys c -> built V c.
Proof.
  intros Sy H (f & extra & If & E & A & P & _). rewrite forallb_forall in H. specialize (H f If).
  unfold check_views_start in H. rewrite <- E in H. destruct (PM.find (fst c) V) as [g|] eqn:F; [|discriminate].
  assert (Sg := views_symmetric _ _ _ Sy F).
  exists g. split; [auto|]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  apply (Together_perm g Sg (threads (fixed f) ++ extra)); [symmetry; exact P|].
  rewrite forallb_forall in H2, H3. rewrite Forall_forall in A.
  assert (K : forall a b, In a (support (fixed f) ++ any f) -> In b (any f) -> pair g a b = true).
  { intros a b Ia Ib. specialize (H3 a Ia). rewrite forallb_forall in H3. auto. }
  apply Together_app. split; [apply (together_iff g Sg); exact H1|]. split.
  - split; [apply Forall_forall; auto|]. clear - A K. induction extra as [|x extra IH]; constructor.
    + apply Forall_forall. intros b Ib. apply K; [apply in_or_app; right|]; apply A; [left | right]; auto.
    + apply IH. intros b Ib. apply A. right; auto.
  - intros a b Ia Ib. apply K; [apply in_or_app; left; apply support_In; auto | auto].
Qed.
Theorem check_views_sound bd sys V : check_views sys V = true -> forall c, reachable bd sys c -> built V c.
Proof.
  intros H c R. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2]. induction R as [c I | c d R IH S].
  - eapply views_start; eauto.
  - apply step_loose in S as (r & Ir & S). rewrite forallb_forall in H3. apply (views_step V r c d); auto.
Qed.
Lemma built_covers V c d : forallb (fun e => symmetric (snd e)) (PM.elements V) = true -> covers c d -> built V c -> builtb V d = true.
Proof.
  intros Sy [E S] (g & F & T). unfold builtb. rewrite <- E, F. assert (Sg := views_symmetric _ _ _ Sy F).
  apply (together_iff g Sg). exact (Together_sub g Sg _ _ S T).
Qed.

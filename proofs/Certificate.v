(* One function and one theorem: what an accepted piece of evidence means. *)
Require Import List Bool NArith PArith.
Require Import FMapPositive MSetPositive.
Require Import System Multiset Firing Index Packed Trace Closed Downward Views Basis Invariants Quotient.
Import ListNotations.

Inductive proof :=
| Closed_ (D : list packed_config)
| Downward_ (D : downward)
| Invariants_ (V : option views) (vs : list vector) (B : basis).
Inductive evidence :=
| Trace_ (start : counted) (later : taken_steps)
| Proof_ (e : proof)
| Through_ (m : merging) (kept : PS.t) (fuel : nat) (e : proof).
Inductive verdict := Safe | Unsafe | Invalid.

Definition check_proof (bd : bound) (e : proof) (sys : system) (targets : list counted) : bool :=
  match e with
  | Closed_ D => check_closed bd sys targets D
  | Downward_ D => check_downward sys targets D
  | Invariants_ V vs B => check_invariants sys targets V vs B
  end.
Definition check (bd : bound) (sys : system) (targets : list counted) (e : evidence) : verdict :=
  match e with
  | Trace_ s l => if check_trace bd sys targets s l then Unsafe else Invalid
  | Proof_ e => if check_proof bd e sys targets then Safe else Invalid
  | Through_ m kept fuel e =>
    match bd with
    | Any => if check_quotient sys targets m kept fuel (check_proof Any e) then Safe else Invalid
    | _ => Invalid
    end
  end.

Lemma check_proof_sound bd e sys targets : check_proof bd e sys targets = true -> ~ reaches bd sys targets.
Proof. destruct e; simpl; [apply check_closed_sound | apply check_downward_sound | apply check_invariants_sound]. Qed.

Theorem check_sound bd sys targets e :
  (check bd sys targets e = Safe -> ~ reaches bd sys targets) /\
  (check bd sys targets e = Unsafe -> reaches bd sys targets).
Proof.
  destruct e as [s l | e | m kept fuel e]; simpl.
  - destruct check_trace eqn:E; split; try discriminate. intros _. eapply check_trace_sound; eauto.
  - destruct check_proof eqn:E; split; try discriminate. intros _. eapply check_proof_sound; eauto.
  - destruct bd; [| split; discriminate | split; discriminate]. destruct check_quotient eqn:E; split; try discriminate.
    intros _. eapply check_quotient_sound; eauto. intros q ts. apply check_proof_sound.
Qed.
Print Assumptions check_sound.

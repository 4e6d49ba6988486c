(* Generated from proofs/Extract.v by proofs/check with Coq's extraction: do not edit. *)

(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type nat =
| O
| S of nat

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> nat **)

let rec length = function
| [] -> O
| _ :: l' -> S (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val compOpp : comparison -> comparison **)

let compOpp = function
| Eq -> Eq
| Lt -> Gt
| Gt -> Lt

module Coq__1 = struct
 (** val add : nat -> nat -> nat **)
 let rec add n0 m =
   match n0 with
   | O -> m
   | S p -> S (add p m)
end
include Coq__1

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module type EqLtLe =
 sig
  type t
 end

module type TotalLeBool' =
 sig
  type t

  val leb : t -> t -> bool
 end

module MakeOrderTac =
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 struct
 end

module Nat =
 struct
  (** val eqb : nat -> nat -> bool **)

  let rec eqb n0 m =
    match n0 with
    | O -> (match m with
            | O -> true
            | S _ -> false)
    | S n' -> (match m with
               | O -> false
               | S m' -> eqb n' m')
 end

(** val in_dec : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> bool **)

let rec in_dec h a = function
| [] -> false
| y :: l0 -> let s = h y a in if s then true else in_dec h a l0

(** val rev : 'a1 list -> 'a1 list **)

let rec rev = function
| [] -> []
| x :: l' -> app (rev l') (x :: [])

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t0 -> app (f x) (flat_map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t0 -> fold_left f t0 (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t0 -> f b (fold_right f a0 t0)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl tl'))

(** val nodup : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec nodup decA = function
| [] -> []
| x :: xs -> if in_dec decA x xs then nodup decA xs else x :: (nodup decA xs)

(** val seq : nat -> nat -> nat list **)

let rec seq start = function
| O -> []
| S len0 -> start :: (seq (S start) len0)

type positive =
| XI of positive
| XO of positive
| XH

type n =
| N0
| Npos of positive

type z =
| Z0
| Zpos of positive
| Zneg of positive

module Pos =
 struct
  type mask =
  | IsNul
  | IsPos of positive
  | IsNeg
 end

module Coq_Pos =
 struct
  (** val succ : positive -> positive **)

  let rec succ = function
  | XI p -> XO (succ p)
  | XO p -> XI p
  | XH -> XO XH

  (** val add : positive -> positive -> positive **)

  let rec add x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XO p ->
      (match y with
       | XI q -> XI (add p q)
       | XO q -> XO (add p q)
       | XH -> XI p)
    | XH -> (match y with
             | XI q -> XO (succ q)
             | XO q -> XI q
             | XH -> XO XH)

  (** val add_carry : positive -> positive -> positive **)

  and add_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> XI (add_carry p q)
       | XO q -> XO (add_carry p q)
       | XH -> XI (succ p))
    | XO p ->
      (match y with
       | XI q -> XO (add_carry p q)
       | XO q -> XI (add p q)
       | XH -> XO (succ p))
    | XH ->
      (match y with
       | XI q -> XI (succ q)
       | XO q -> XO (succ q)
       | XH -> XI XH)

  (** val pred_double : positive -> positive **)

  let rec pred_double = function
  | XI p -> XI (XO p)
  | XO p -> XI (pred_double p)
  | XH -> XH

  (** val pred_N : positive -> n **)

  let pred_N = function
  | XI p -> Npos (XO p)
  | XO p -> Npos (pred_double p)
  | XH -> N0

  type mask = Pos.mask =
  | IsNul
  | IsPos of positive
  | IsNeg

  (** val succ_double_mask : mask -> mask **)

  let succ_double_mask = function
  | IsNul -> IsPos XH
  | IsPos p -> IsPos (XI p)
  | IsNeg -> IsNeg

  (** val double_mask : mask -> mask **)

  let double_mask = function
  | IsPos p -> IsPos (XO p)
  | x0 -> x0

  (** val double_pred_mask : positive -> mask **)

  let double_pred_mask = function
  | XI p -> IsPos (XO (XO p))
  | XO p -> IsPos (XO (pred_double p))
  | XH -> IsNul

  (** val sub_mask : positive -> positive -> mask **)

  let rec sub_mask x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> double_mask (sub_mask p q)
       | XO q -> succ_double_mask (sub_mask p q)
       | XH -> IsPos (XO p))
    | XO p ->
      (match y with
       | XI q -> succ_double_mask (sub_mask_carry p q)
       | XO q -> double_mask (sub_mask p q)
       | XH -> IsPos (pred_double p))
    | XH -> (match y with
             | XH -> IsNul
             | _ -> IsNeg)

  (** val sub_mask_carry : positive -> positive -> mask **)

  and sub_mask_carry x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> succ_double_mask (sub_mask_carry p q)
       | XO q -> double_mask (sub_mask p q)
       | XH -> IsPos (pred_double p))
    | XO p ->
      (match y with
       | XI q -> double_mask (sub_mask_carry p q)
       | XO q -> succ_double_mask (sub_mask_carry p q)
       | XH -> double_pred_mask p)
    | XH -> IsNeg

  (** val mul : positive -> positive -> positive **)

  let rec mul x y =
    match x with
    | XI p -> add y (XO (mul p y))
    | XO p -> XO (mul p y)
    | XH -> y

  (** val compare_cont : comparison -> positive -> positive -> comparison **)

  let rec compare_cont r x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> compare_cont r p q
       | XO q -> compare_cont Gt p q
       | XH -> Gt)
    | XO p ->
      (match y with
       | XI q -> compare_cont Lt p q
       | XO q -> compare_cont r p q
       | XH -> Gt)
    | XH -> (match y with
             | XH -> r
             | _ -> Lt)

  (** val compare : positive -> positive -> comparison **)

  let compare =
    compare_cont Eq

  (** val min : positive -> positive -> positive **)

  let min p p' =
    match compare p p' with
    | Gt -> p'
    | _ -> p

  (** val eqb : positive -> positive -> bool **)

  let rec eqb p q =
    match p with
    | XI p0 -> (match q with
                | XI q0 -> eqb p0 q0
                | _ -> false)
    | XO p0 -> (match q with
                | XO q0 -> eqb p0 q0
                | _ -> false)
    | XH -> (match q with
             | XH -> true
             | _ -> false)

  (** val iter_op : ('a1 -> 'a1 -> 'a1) -> positive -> 'a1 -> 'a1 **)

  let rec iter_op op p a =
    match p with
    | XI p0 -> op a (iter_op op p0 (op a a))
    | XO p0 -> iter_op op p0 (op a a)
    | XH -> a

  (** val to_nat : positive -> nat **)

  let to_nat x =
    iter_op Coq__1.add x (S O)

  (** val of_succ_nat : nat -> positive **)

  let rec of_succ_nat = function
  | O -> XH
  | S x -> succ (of_succ_nat x)

  (** val eq_dec : positive -> positive -> bool **)

  let rec eq_dec p x0 =
    match p with
    | XI p0 -> (match x0 with
                | XI p1 -> eq_dec p0 p1
                | _ -> false)
    | XO p0 -> (match x0 with
                | XO p1 -> eq_dec p0 p1
                | _ -> false)
    | XH -> (match x0 with
             | XH -> true
             | _ -> false)
 end

module N =
 struct
  (** val succ : n -> n **)

  let succ = function
  | N0 -> Npos XH
  | Npos p -> Npos (Coq_Pos.succ p)

  (** val pred : n -> n **)

  let pred = function
  | N0 -> N0
  | Npos p -> Coq_Pos.pred_N p

  (** val add : n -> n -> n **)

  let add n0 m =
    match n0 with
    | N0 -> m
    | Npos p -> (match m with
                 | N0 -> n0
                 | Npos q -> Npos (Coq_Pos.add p q))

  (** val sub : n -> n -> n **)

  let sub n0 m =
    match n0 with
    | N0 -> N0
    | Npos n' ->
      (match m with
       | N0 -> n0
       | Npos m' ->
         (match Coq_Pos.sub_mask n' m' with
          | Coq_Pos.IsPos p -> Npos p
          | _ -> N0))

  (** val compare : n -> n -> comparison **)

  let compare n0 m =
    match n0 with
    | N0 -> (match m with
             | N0 -> Eq
             | Npos _ -> Lt)
    | Npos n' -> (match m with
                  | N0 -> Gt
                  | Npos m' -> Coq_Pos.compare n' m')

  (** val eqb : n -> n -> bool **)

  let eqb n0 m =
    match n0 with
    | N0 -> (match m with
             | N0 -> true
             | Npos _ -> false)
    | Npos p -> (match m with
                 | N0 -> false
                 | Npos q -> Coq_Pos.eqb p q)

  (** val leb : n -> n -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val ltb : n -> n -> bool **)

  let ltb x y =
    match compare x y with
    | Lt -> true
    | _ -> false

  (** val min : n -> n -> n **)

  let min n0 n' =
    match compare n0 n' with
    | Gt -> n'
    | _ -> n0

  (** val to_nat : n -> nat **)

  let to_nat = function
  | N0 -> O
  | Npos p -> Coq_Pos.to_nat p

  (** val of_nat : nat -> n **)

  let of_nat = function
  | O -> N0
  | S n' -> Npos (Coq_Pos.of_succ_nat n')
 end

module Z =
 struct
  (** val double : z -> z **)

  let double = function
  | Z0 -> Z0
  | Zpos p -> Zpos (XO p)
  | Zneg p -> Zneg (XO p)

  (** val succ_double : z -> z **)

  let succ_double = function
  | Z0 -> Zpos XH
  | Zpos p -> Zpos (XI p)
  | Zneg p -> Zneg (Coq_Pos.pred_double p)

  (** val pred_double : z -> z **)

  let pred_double = function
  | Z0 -> Zneg XH
  | Zpos p -> Zpos (Coq_Pos.pred_double p)
  | Zneg p -> Zneg (XI p)

  (** val pos_sub : positive -> positive -> z **)

  let rec pos_sub x y =
    match x with
    | XI p ->
      (match y with
       | XI q -> double (pos_sub p q)
       | XO q -> succ_double (pos_sub p q)
       | XH -> Zpos (XO p))
    | XO p ->
      (match y with
       | XI q -> pred_double (pos_sub p q)
       | XO q -> double (pos_sub p q)
       | XH -> Zpos (Coq_Pos.pred_double p))
    | XH ->
      (match y with
       | XI q -> Zneg (XO q)
       | XO q -> Zneg (Coq_Pos.pred_double q)
       | XH -> Z0)

  (** val add : z -> z -> z **)

  let add x y =
    match x with
    | Z0 -> y
    | Zpos x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> Zpos (Coq_Pos.add x' y')
       | Zneg y' -> pos_sub x' y')
    | Zneg x' ->
      (match y with
       | Z0 -> x
       | Zpos y' -> pos_sub y' x'
       | Zneg y' -> Zneg (Coq_Pos.add x' y'))

  (** val opp : z -> z **)

  let opp = function
  | Z0 -> Z0
  | Zpos x0 -> Zneg x0
  | Zneg x0 -> Zpos x0

  (** val sub : z -> z -> z **)

  let sub m n0 =
    add m (opp n0)

  (** val mul : z -> z -> z **)

  let mul x y =
    match x with
    | Z0 -> Z0
    | Zpos x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zpos (Coq_Pos.mul x' y')
       | Zneg y' -> Zneg (Coq_Pos.mul x' y'))
    | Zneg x' ->
      (match y with
       | Z0 -> Z0
       | Zpos y' -> Zneg (Coq_Pos.mul x' y')
       | Zneg y' -> Zpos (Coq_Pos.mul x' y'))

  (** val compare : z -> z -> comparison **)

  let compare x y =
    match x with
    | Z0 -> (match y with
             | Z0 -> Eq
             | Zpos _ -> Lt
             | Zneg _ -> Gt)
    | Zpos x' -> (match y with
                  | Zpos y' -> Coq_Pos.compare x' y'
                  | _ -> Gt)
    | Zneg x' ->
      (match y with
       | Zneg y' -> compOpp (Coq_Pos.compare x' y')
       | _ -> Lt)

  (** val leb : z -> z -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val ltb : z -> z -> bool **)

  let ltb x y =
    match compare x y with
    | Lt -> true
    | _ -> false

  (** val of_N : n -> z **)

  let of_N = function
  | N0 -> Z0
  | Npos p -> Zpos p
 end

type 'x compare0 =
| LT
| EQ
| GT

module type OrderedType =
 sig
  type t

  val compare : t -> t -> t compare0

  val eq_dec : t -> t -> bool
 end

module OrderedTypeFacts =
 functor (O:OrderedType) ->
 struct
  module TO =
   struct
    type t = O.t
   end

  module IsTO =
   struct
   end

  module OrderTac = MakeOrderTac(TO)(IsTO)

  (** val eq_dec : O.t -> O.t -> bool **)

  let eq_dec =
    O.eq_dec

  (** val lt_dec : O.t -> O.t -> bool **)

  let lt_dec x y =
    match O.compare x y with
    | LT -> true
    | _ -> false

  (** val eqb : O.t -> O.t -> bool **)

  let eqb x y =
    if eq_dec x y then true else false
 end

module KeyOrderedType =
 functor (O:OrderedType) ->
 struct
  module MO = OrderedTypeFacts(O)
 end

module PositiveOrderedTypeBits =
 struct
  type t = positive

  (** val compare : t -> t -> positive compare0 **)

  let rec compare p y =
    match p with
    | XI p0 -> (match y with
                | XI p1 -> compare p0 p1
                | _ -> GT)
    | XO p0 -> (match y with
                | XO p1 -> compare p0 p1
                | _ -> LT)
    | XH -> (match y with
             | XI _ -> LT
             | XO _ -> GT
             | XH -> EQ)

  (** val eq_dec : positive -> positive -> bool **)

  let eq_dec x y =
    match Coq_Pos.compare x y with
    | Eq -> true
    | _ -> false
 end

(** val append : positive -> positive -> positive **)

let rec append i j =
  match i with
  | XI ii -> XI (append ii j)
  | XO ii -> XO (append ii j)
  | XH -> j

module PositiveMap =
 struct
  module E = PositiveOrderedTypeBits

  module ME = KeyOrderedType(E)

  type key = positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  (** val empty : 'a1 t **)

  let empty =
    Leaf

  (** val is_empty : 'a1 t -> bool **)

  let rec is_empty = function
  | Leaf -> true
  | Node (l, o, r) ->
    (match o with
     | Some _ -> false
     | None -> (&&) (is_empty l) (is_empty r))

  (** val find : key -> 'a1 t -> 'a1 option **)

  let rec find i = function
  | Leaf -> None
  | Node (l, o, r) ->
    (match i with
     | XI ii -> find ii r
     | XO ii -> find ii l
     | XH -> o)

  (** val mem : key -> 'a1 t -> bool **)

  let rec mem i = function
  | Leaf -> false
  | Node (l, o, r) ->
    (match i with
     | XI ii -> mem ii r
     | XO ii -> mem ii l
     | XH -> (match o with
              | Some _ -> true
              | None -> false))

  (** val add : key -> 'a1 -> 'a1 t -> 'a1 t **)

  let rec add i v = function
  | Leaf ->
    (match i with
     | XI ii -> Node (Leaf, None, (add ii v Leaf))
     | XO ii -> Node ((add ii v Leaf), None, Leaf)
     | XH -> Node (Leaf, (Some v), Leaf))
  | Node (l, o, r) ->
    (match i with
     | XI ii -> Node (l, o, (add ii v r))
     | XO ii -> Node ((add ii v l), o, r)
     | XH -> Node (l, (Some v), r))

  (** val remove : key -> 'a1 t -> 'a1 t **)

  let rec remove i m =
    match i with
    | XI ii ->
      (match m with
       | Leaf -> Leaf
       | Node (l, o, r) ->
         (match l with
          | Leaf ->
            (match o with
             | Some _ -> Node (l, o, (remove ii r))
             | None ->
               (match remove ii r with
                | Leaf -> Leaf
                | Node (t0, o0, t1) -> Node (Leaf, None, (Node (t0, o0, t1)))))
          | Node (_, _, _) -> Node (l, o, (remove ii r))))
    | XO ii ->
      (match m with
       | Leaf -> Leaf
       | Node (l, o, r) ->
         (match o with
          | Some _ -> Node ((remove ii l), o, r)
          | None ->
            (match r with
             | Leaf ->
               (match remove ii l with
                | Leaf -> Leaf
                | Node (t0, o0, t1) -> Node ((Node (t0, o0, t1)), None, Leaf))
             | Node (_, _, _) -> Node ((remove ii l), o, r))))
    | XH ->
      (match m with
       | Leaf -> Leaf
       | Node (l, _, r) ->
         (match l with
          | Leaf ->
            (match r with
             | Leaf -> Leaf
             | Node (_, _, _) -> Node (l, None, r))
          | Node (_, _, _) -> Node (l, None, r)))

  (** val xelements : 'a1 t -> key -> (key * 'a1) list **)

  let rec xelements m i =
    match m with
    | Leaf -> []
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         app (xelements l (append i (XO XH))) ((i,
           x) :: (xelements r (append i (XI XH))))
       | None ->
         app (xelements l (append i (XO XH))) (xelements r (append i (XI XH))))

  (** val elements : 'a1 t -> (key * 'a1) list **)

  let elements m =
    xelements m XH

  (** val cardinal : 'a1 t -> nat **)

  let rec cardinal = function
  | Leaf -> O
  | Node (l, o, r) ->
    (match o with
     | Some _ -> S (Coq__1.add (cardinal l) (cardinal r))
     | None -> Coq__1.add (cardinal l) (cardinal r))

  (** val xfind : key -> key -> 'a1 t -> 'a1 option **)

  let rec xfind i j m =
    match i with
    | XI ii ->
      (match j with
       | XI jj -> xfind ii jj m
       | XO _ -> None
       | XH -> find i m)
    | XO ii ->
      (match j with
       | XI _ -> None
       | XO jj -> xfind ii jj m
       | XH -> find i m)
    | XH -> (match j with
             | XH -> find i m
             | _ -> None)

  (** val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t **)

  let rec xmapi f m i =
    match m with
    | Leaf -> Leaf
    | Node (l, o, r) ->
      Node ((xmapi f l (append i (XO XH))), (option_map (f i) o),
        (xmapi f r (append i (XI XH))))

  (** val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let mapi f m =
    xmapi f m XH

  (** val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let map f m =
    mapi (fun _ -> f) m

  (** val xmap2_l :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t **)

  let rec xmap2_l f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_l f l), (f o None), (xmap2_l f r))

  (** val xmap2_r :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t **)

  let rec xmap2_r f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_r f l), (f None o), (xmap2_r f r))

  (** val _map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let rec _map2 f m1 m2 =
    match m1 with
    | Leaf -> xmap2_r f m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> xmap2_l f m1
       | Node (l2, o2, r2) ->
         Node ((_map2 f l1 l2), (f o1 o2), (_map2 f r1 r2)))

  (** val map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let map2 f =
    _map2 (fun o1 o2 ->
      match o1 with
      | Some _ -> f o1 o2
      | None -> (match o2 with
                 | Some _ -> f o1 o2
                 | None -> None))

  (** val xfoldi :
      (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2 **)

  let rec xfoldi f m v i =
    match m with
    | Leaf -> v
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         xfoldi f r (f i x (xfoldi f l v (append i (XO XH))))
           (append i (XI XH))
       | None ->
         xfoldi f r (xfoldi f l v (append i (XO XH))) (append i (XI XH)))

  (** val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2 **)

  let fold f m i =
    xfoldi f m i XH

  (** val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool **)

  let rec equal cmp m1 m2 =
    match m1 with
    | Leaf -> is_empty m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> is_empty m1
       | Node (l2, o2, r2) ->
         (&&)
           ((&&)
             (match o1 with
              | Some v1 ->
                (match o2 with
                 | Some v2 -> cmp v1 v2
                 | None -> false)
              | None -> (match o2 with
                         | Some _ -> false
                         | None -> true)) (equal cmp l1 l2)) (equal cmp r1 r2))
 end

module Coq_PositiveOrderedTypeBits =
 struct
  type t = positive

  (** val eqb : positive -> positive -> bool **)

  let eqb =
    Coq_Pos.eqb

  (** val eq_dec : positive -> positive -> bool **)

  let eq_dec x y =
    let b = Coq_Pos.eqb x y in if b then true else false

  (** val compare : positive -> positive -> comparison **)

  let rec compare x y =
    match x with
    | XI x0 -> (match y with
                | XI y0 -> compare x0 y0
                | _ -> Gt)
    | XO x0 -> (match y with
                | XO y0 -> compare x0 y0
                | _ -> Lt)
    | XH -> (match y with
             | XI _ -> Lt
             | XO _ -> Gt
             | XH -> Eq)
 end

module PositiveSet =
 struct
  module E = Coq_PositiveOrderedTypeBits

  type elt = positive

  type tree =
  | Leaf
  | Node of tree * bool * tree

  type t = tree

  (** val empty : t **)

  let empty =
    Leaf

  (** val is_empty : t -> bool **)

  let rec is_empty = function
  | Leaf -> true
  | Node (l, b, r) ->
    if if negb b then is_empty l else false then is_empty r else false

  (** val mem : positive -> t -> bool **)

  let rec mem i = function
  | Leaf -> false
  | Node (l, o, r) ->
    (match i with
     | XI i0 -> mem i0 r
     | XO i0 -> mem i0 l
     | XH -> o)

  (** val add : positive -> t -> t **)

  let rec add i = function
  | Leaf ->
    (match i with
     | XI i0 -> Node (Leaf, false, (add i0 Leaf))
     | XO i0 -> Node ((add i0 Leaf), false, Leaf)
     | XH -> Node (Leaf, true, Leaf))
  | Node (l, o, r) ->
    (match i with
     | XI i0 -> Node (l, o, (add i0 r))
     | XO i0 -> Node ((add i0 l), o, r)
     | XH -> Node (l, true, r))

  (** val singleton : positive -> t **)

  let singleton i =
    add i empty

  (** val node : t -> bool -> t -> t **)

  let node l b r =
    if b
    then Node (l, b, r)
    else (match l with
          | Leaf ->
            (match r with
             | Leaf -> Leaf
             | Node (_, _, _) -> Node (l, false, r))
          | Node (_, _, _) -> Node (l, false, r))

  (** val remove : positive -> t -> t **)

  let rec remove i = function
  | Leaf -> Leaf
  | Node (l, o, r) ->
    (match i with
     | XI i0 -> node l o (remove i0 r)
     | XO i0 -> node (remove i0 l) o r
     | XH -> node l false r)

  (** val union : t -> t -> t **)

  let rec union m m' =
    match m with
    | Leaf -> m'
    | Node (l, o, r) ->
      (match m' with
       | Leaf -> m
       | Node (l', o', r') -> Node ((union l l'), ((||) o o'), (union r r')))

  (** val inter : t -> t -> t **)

  let rec inter m m' =
    match m with
    | Leaf -> Leaf
    | Node (l, o, r) ->
      (match m' with
       | Leaf -> Leaf
       | Node (l', o', r') -> node (inter l l') ((&&) o o') (inter r r'))

  (** val diff : t -> t -> t **)

  let rec diff m m' =
    match m with
    | Leaf -> Leaf
    | Node (l, o, r) ->
      (match m' with
       | Leaf -> m
       | Node (l', o', r') -> node (diff l l') ((&&) o (negb o')) (diff r r'))

  (** val equal : t -> t -> bool **)

  let rec equal m m' =
    match m with
    | Leaf -> is_empty m'
    | Node (l, o, r) ->
      (match m' with
       | Leaf -> is_empty m
       | Node (l', o', r') ->
         if if eqb o o' then equal l l' else false then equal r r' else false)

  (** val subset : t -> t -> bool **)

  let rec subset m m' =
    match m with
    | Leaf -> true
    | Node (l, o, r) ->
      (match m' with
       | Leaf -> is_empty m
       | Node (l', o', r') ->
         if if if negb o then true else o' then subset l l' else false
         then subset r r'
         else false)

  (** val rev_append : elt -> elt -> elt **)

  let rec rev_append y x =
    match y with
    | XI y0 -> rev_append y0 (XI x)
    | XO y0 -> rev_append y0 (XO x)
    | XH -> x

  (** val rev : elt -> elt **)

  let rev x =
    rev_append x XH

  (** val xfold : (positive -> 'a1 -> 'a1) -> t -> 'a1 -> positive -> 'a1 **)

  let rec xfold f m v i =
    match m with
    | Leaf -> v
    | Node (l, b, r) ->
      if b
      then xfold f r (f (rev i) (xfold f l v (XO i))) (XI i)
      else xfold f r (xfold f l v (XO i)) (XI i)

  (** val fold : (positive -> 'a1 -> 'a1) -> t -> 'a1 -> 'a1 **)

  let fold f m i =
    xfold f m i XH

  (** val xforall : (positive -> bool) -> t -> positive -> bool **)

  let rec xforall f m i =
    match m with
    | Leaf -> true
    | Node (l, o, r) ->
      if if if negb o then true else f (rev i)
         then xforall f r (XI i)
         else false
      then xforall f l (XO i)
      else false

  (** val for_all : (positive -> bool) -> t -> bool **)

  let for_all f m =
    xforall f m XH

  (** val xexists : (positive -> bool) -> t -> positive -> bool **)

  let rec xexists f m i =
    match m with
    | Leaf -> false
    | Node (l, o, r) ->
      if if if o then f (rev i) else false then true else xexists f r (XI i)
      then true
      else xexists f l (XO i)

  (** val exists_ : (positive -> bool) -> t -> bool **)

  let exists_ f m =
    xexists f m XH

  (** val xfilter : (positive -> bool) -> t -> positive -> t **)

  let rec xfilter f m i =
    match m with
    | Leaf -> Leaf
    | Node (l, o, r) ->
      node (xfilter f l (XO i)) (if o then f (rev i) else false)
        (xfilter f r (XI i))

  (** val filter : (positive -> bool) -> t -> t **)

  let filter f m =
    xfilter f m XH

  (** val xpartition : (positive -> bool) -> t -> positive -> t * t **)

  let rec xpartition f m i =
    match m with
    | Leaf -> (Leaf, Leaf)
    | Node (l, o, r) ->
      let (lt, lf) = xpartition f l (XO i) in
      let (rt, rf) = xpartition f r (XI i) in
      if o
      then let fi = f (rev i) in ((node lt fi rt), (node lf (negb fi) rf))
      else ((node lt false rt), (node lf false rf))

  (** val partition : (positive -> bool) -> t -> t * t **)

  let partition f m =
    xpartition f m XH

  (** val xelements : t -> positive -> positive list -> positive list **)

  let rec xelements m i a =
    match m with
    | Leaf -> a
    | Node (l, b, r) ->
      if b
      then xelements l (XO i) ((rev i) :: (xelements r (XI i) a))
      else xelements l (XO i) (xelements r (XI i) a)

  (** val elements : t -> positive list **)

  let elements m =
    xelements m XH []

  (** val cardinal : t -> nat **)

  let rec cardinal = function
  | Leaf -> O
  | Node (l, b, r) ->
    if b
    then S (Coq__1.add (cardinal l) (cardinal r))
    else Coq__1.add (cardinal l) (cardinal r)

  (** val choose : t -> elt option **)

  let rec choose = function
  | Leaf -> None
  | Node (l, o, r) ->
    if o
    then Some XH
    else (match choose l with
          | Some i -> Some (XO i)
          | None -> option_map (fun x -> XI x) (choose r))

  (** val min_elt : t -> elt option **)

  let rec min_elt = function
  | Leaf -> None
  | Node (l, o, r) ->
    (match min_elt l with
     | Some i -> Some (XO i)
     | None -> if o then Some XH else option_map (fun x -> XI x) (min_elt r))

  (** val max_elt : t -> elt option **)

  let rec max_elt = function
  | Leaf -> None
  | Node (l, o, r) ->
    (match max_elt r with
     | Some i -> Some (XI i)
     | None -> if o then Some XH else option_map (fun x -> XO x) (max_elt l))

  (** val compare_bool : bool -> bool -> comparison **)

  let compare_bool a b =
    if a then if b then Eq else Gt else if b then Lt else Eq

  (** val compare : t -> t -> comparison **)

  let rec compare m m' =
    match m with
    | Leaf -> if is_empty m' then Eq else Lt
    | Node (l, o, r) ->
      (match m' with
       | Leaf -> if is_empty m then Eq else Gt
       | Node (l', o', r') ->
         (match compare_bool o o' with
          | Eq -> (match compare l l' with
                   | Eq -> compare r r'
                   | x -> x)
          | x -> x))

  (** val eq_dec : t -> t -> bool **)

  let eq_dec s s' =
    if equal s s' then true else false
 end

module PM = PositiveMap

module PS = PositiveSet

type bag = n PM.t

type counted = positive * bag

type rule = { src : positive; dst : positive; take : bag; put : bag;
              spawn : bag; moves : positive option list PM.t }

(** val fates : rule -> positive -> positive option list **)

let fates r p =
  match PM.find p r.moves with
  | Some os -> os
  | None -> (Some p) :: []

(** val present : positive option list -> positive list **)

let rec present = function
| [] -> []
| o :: t0 -> (match o with
              | Some x -> x :: (present t0)
              | None -> present t0)

type family = { at_shared : positive; fixed : bag; any : positive list }

type system = { rules : rule list; families : family list }

type bound =
| Any
| Threads of n
| Tokens of n

(** val within : bound -> n -> bool **)

let within bd n0 =
  match bd with
  | Threads most0 -> N.leb n0 most0
  | _ -> true

type condition =
| At_least of (positive * z) list * z
| Dead
| Live
| All_of of condition list
| Any_of of condition list

(** val turn : positive -> positive -> positive **)

let rec turn k j =
  match k with
  | XI k0 -> turn k0 (XI j)
  | XO k0 -> turn k0 (XO j)
  | XH -> j

(** val gather :
    'a1 PM.t -> positive -> (positive * 'a1) list -> (positive * 'a1) list **)

let rec gather m k found =
  match m with
  | PM.Leaf -> found
  | PM.Node (l, o, r) ->
    let right = gather r (XI k) found in
    gather l (XO k)
      (match o with
       | Some x -> ((turn k XH), x) :: right
       | None -> right)

(** val entries : 'a1 PM.t -> (positive * 'a1) list **)

let entries m =
  gather m XH []

(** val many : bag -> positive -> n **)

let many b x =
  match PM.find x b with
  | Some n0 -> n0
  | None -> N0

(** val nonzero : n -> n option **)

let nonzero n0 = match n0 with
| N0 -> None
| Npos _ -> Some n0

(** val plus : bag -> bag -> bag **)

let rec plus a b =
  match a with
  | PM.Leaf -> b
  | PM.Node (l, o, r) ->
    (match b with
     | PM.Leaf -> a
     | PM.Node (l', o', r') ->
       PM.Node ((plus l l'),
         (match o with
          | Some n0 -> (match o' with
                        | Some m -> Some (N.add n0 m)
                        | None -> o)
          | None -> o'), (plus r r')))

(** val node0 : bag -> n option -> bag -> bag **)

let node0 l o r =
  match l with
  | PM.Leaf ->
    (match o with
     | Some _ -> PM.Node (l, o, r)
     | None ->
       (match r with
        | PM.Leaf -> PM.Leaf
        | PM.Node (_, _, _) -> PM.Node (l, o, r)))
  | PM.Node (_, _, _) -> PM.Node (l, o, r)

(** val minus : bag -> bag -> bag **)

let rec minus a b =
  match a with
  | PM.Leaf -> a
  | PM.Node (l, o, r) ->
    (match b with
     | PM.Leaf -> a
     | PM.Node (l', o', r') ->
       node0 (minus l l')
         (match o with
          | Some n0 ->
            (match o' with
             | Some m -> nonzero (N.sub n0 m)
             | None -> o)
          | None -> o) (minus r r'))

(** val no_threads : bag **)

let no_threads =
  PM.empty

(** val some : positive -> n -> bag **)

let some x n0 = match n0 with
| N0 -> no_threads
| Npos _ -> PM.add x n0 no_threads

(** val leb0 : bag -> bag -> bool **)

let leb0 a c =
  forallb (fun e -> N.leb (snd e) (many c (fst e))) (entries a)

(** val eqb0 : bag -> bag -> bool **)

let eqb0 a c =
  (&&) (leb0 a c) (leb0 c a)

(** val total : bag -> n **)

let total b =
  fold_right (fun e n0 -> N.add (snd e) n0) N0 (entries b)

(** val support : bag -> positive list **)

let support b =
  map fst (filter (fun e -> negb (N.eqb (snd e) N0)) (entries b))

(** val stays : rule -> bool **)

let stays r =
  PM.is_empty r.moves

(** val counts_to : n -> n list **)

let counts_to n0 =
  map N.of_nat (seq O (S (N.to_nat n0)))

(** val at_option : positive option -> n -> bag **)

let at_option o n0 =
  match o with
  | Some x -> some x n0
  | None -> no_threads

(** val choose0 : positive option list -> n -> bag list **)

let rec choose0 options n0 =
  match options with
  | [] -> if N.eqb n0 N0 then no_threads :: [] else []
  | o :: t0 ->
    (match t0 with
     | [] -> (at_option o n0) :: []
     | _ :: _ ->
       flat_map (fun j ->
         map (plus (at_option o j)) (choose0 t0 (N.sub n0 j))) (counts_to n0))

(** val ways :
    (positive -> positive option list) -> (positive * n) list -> bag list **)

let rec ways options = function
| [] -> no_threads :: []
| p :: t0 ->
  let (l, n0) = p in
  let later = ways options t0 in
  flat_map (fun w -> map (plus w) later) (choose0 (options l) n0)

(** val after : rule -> bag -> bag list **)

let after r rest0 =
  if stays r then rest0 :: [] else ways (fates r) (PM.elements rest0)

(** val fire : bound -> rule -> bag -> bag list **)

let fire bd r c =
  if leb0 r.take c
  then let rest0 = minus c r.take in
       let arrived =
         if within bd
              (N.add (total rest0) (N.add (total r.put) (total r.spawn)))
         then plus r.put r.spawn
         else r.put
       in
       filter (fun d -> within bd (total d))
         (map (plus arrived) (after r rest0))
  else []

(** val goes_to : positive -> positive option -> bool **)

let goes_to l = function
| Some m -> Coq_Pos.eqb l m
| None -> false

(** val back : rule -> positive -> positive option list **)

let back r l =
  app (if PM.mem l r.moves then [] else (Some l) :: [])
    (map (fun e -> Some (fst e))
      (filter (fun e -> existsb (goes_to l) (snd e)) (PM.elements r.moves)))

(** val before : rule -> bag -> bag list **)

let before r b =
  if stays r then b :: [] else ways (back r) (PM.elements b)

(** val predecessors : rule -> bag -> bag list **)

let predecessors r b =
  map (plus r.take) (before r (minus (minus b r.put) r.spawn))

(** val lookup : 'a1 list PM.t -> positive -> 'a1 list **)

let lookup m k =
  match PM.find k m with
  | Some l -> l
  | None -> []

(** val push : positive -> 'a1 -> 'a1 list PM.t -> 'a1 list PM.t **)

let push k x m =
  PM.add k (x :: (lookup m k)) m

(** val group : ('a1 -> positive) -> 'a1 list -> 'a1 list PM.t **)

let group key0 l =
  fold_right (fun x -> push (key0 x) x) PM.empty l

(** val least : positive list -> positive option **)

let rec least = function
| [] -> None
| x :: t0 ->
  (match least t0 with
   | Some y -> Some (Coq_Pos.min x y)
   | None -> Some x)

(** val leader : rule -> positive option **)

let leader r =
  least (support r.take)

(** val leader_key : positive option -> positive **)

let leader_key = function
| Some l -> Coq_Pos.succ l
| None -> XH

(** val leads_key : rule -> positive **)

let leads_key r =
  leader_key (leader r)

type rule_index = rule list PM.t PM.t

(** val index_rules : rule list -> rule_index **)

let index_rules rs =
  PM.map (group leads_key) (group (fun r -> r.src) rs)

(** val rules_led : rule_index -> positive -> positive option -> rule list **)

let rules_led ix s by_ =
  match PM.find s ix with
  | Some m -> lookup m (leader_key by_)
  | None -> []

(** val bag_key : bag -> positive **)

let bag_key b =
  fold_left (fun k e ->
    match snd e with
    | N0 -> k
    | Npos n0 -> Coq_Pos.add (XO k) (Coq_Pos.add (fst e) n0)) (entries b) XH

type packed = (positive * n) list

type packed_config = positive * packed

(** val drop : positive -> n -> packed -> packed option **)

let rec drop x n0 = function
| [] -> (match n0 with
         | N0 -> Some []
         | Npos _ -> None)
| p :: t0 ->
  let (y, m) = p in
  if Coq_Pos.eqb x y
  then (match N.compare n0 m with
        | Eq -> Some t0
        | Lt -> Some ((y, (N.sub m n0)) :: t0)
        | Gt -> drop x (N.sub n0 m) t0)
  else (match drop x n0 t0 with
        | Some rest0 -> Some ((y, m) :: rest0)
        | None -> None)

(** val drops : packed -> packed -> packed option **)

let rec drops b e =
  match b with
  | [] -> Some e
  | p :: t0 ->
    let (x, n0) = p in
    (match drop x n0 e with
     | Some rest0 -> drops t0 rest0
     | None -> None)

(** val order : positive -> positive -> comparison **)

let rec order x y =
  match x with
  | XI x0 -> (match y with
              | XI y0 -> order x0 y0
              | _ -> Gt)
  | XO x0 -> (match y with
              | XO y0 -> order x0 y0
              | _ -> Lt)
  | XH -> (match y with
           | XI _ -> Lt
           | XO _ -> Gt
           | XH -> Eq)

(** val insert : positive -> n -> packed -> packed **)

let rec insert x n0 e = match e with
| [] -> (x, n0) :: []
| p :: t0 ->
  let (y, m) = p in
  (match order x y with
   | Eq -> (y, (N.add m n0)) :: t0
   | Lt -> (x, n0) :: e
   | Gt -> (y, m) :: (insert x n0 t0))

(** val inserts : packed -> packed -> packed **)

let rec inserts b e =
  match b with
  | [] -> e
  | p :: t0 -> let (x, n0) = p in inserts t0 (insert x n0 e)

(** val packed_total : packed -> n **)

let packed_total e =
  fold_right (fun e0 n0 -> N.add (snd e0) n0) N0 e

type packed_rule = { whole : rule; takes : packed; puts : packed }

(** val pack : rule -> packed_rule **)

let pack r =
  { whole = r; takes = (entries r.take); puts =
    (entries (plus r.put r.spawn)) }

(** val packed_after : rule -> packed -> packed list **)

let packed_after r rest0 =
  if stays r then rest0 :: [] else map entries (ways (fates r) rest0)

(** val packed_fire : bound -> packed_rule -> packed -> packed list **)

let packed_fire bd r c =
  match drops r.takes c with
  | Some rest0 ->
    (match bd with
     | Threads most0 ->
       let arrived =
         if N.leb (N.add (packed_total rest0) (packed_total r.puts)) most0
         then r.puts
         else entries r.whole.put
       in
       filter (fun d -> N.leb (packed_total d) most0)
         (map (inserts arrived) (packed_after r.whole rest0))
     | _ -> map (inserts r.puts) (packed_after r.whole rest0))
  | None -> []

type 'a index_of = 'a list PM.t PM.t

(** val index_with : (rule -> 'a1) -> rule list -> 'a1 index_of **)

let index_with make rs =
  PM.map (PM.map (map make)) (index_rules rs)

type packed_index = packed_rule index_of

(** val pack_rules : rule list -> packed_index **)

let pack_rules rs =
  index_with pack rs

(** val all_rules : 'a1 index_of -> ('a1 -> bool) -> packed_config -> bool **)

let all_rules ix f c =
  match PM.find (fst c) ix with
  | Some m ->
    (&&) (forallb f (lookup m XH))
      (forallb (fun e -> forallb f (lookup m (Coq_Pos.succ (fst e)))) (snd c))
  | None -> true

(** val nothing : 'a1 list -> bool **)

let nothing = function
| [] -> true
| _ :: _ -> false

(** val stuck : bound -> packed_index -> packed_config -> bool **)

let stuck bd ix c =
  all_rules ix (fun r -> nothing (packed_fire bd r (snd c))) c

type packed_set =
| Packed_set of bool * packed_set PM.t PM.t

(** val no_packed : packed_set **)

let no_packed =
  Packed_set (false, PM.empty)

(** val holds_packed : packed_set -> packed -> bool **)

let rec holds_packed t0 e =
  let Packed_set (ends0, next) = t0 in
  (match e with
   | [] -> ends0
   | p :: e0 ->
     let (x, n0) = p in
     (match n0 with
      | N0 -> false
      | Npos n1 ->
        (match PM.find x next with
         | Some m ->
           (match PM.find n1 m with
            | Some t1 -> holds_packed t1 e0
            | None -> false)
         | None -> false)))

(** val branch : 'a1 PM.t option -> 'a1 PM.t **)

let branch = function
| Some m0 -> m0
| None -> PM.empty

(** val add_packed : packed -> packed_set -> packed_set **)

let rec add_packed e t0 = match t0 with
| Packed_set (ends0, next) ->
  (match e with
   | [] -> Packed_set (true, next)
   | p :: e0 ->
     let (x, n0) = p in
     (match n0 with
      | N0 -> t0
      | Npos n1 ->
        let m = branch (PM.find x next) in
        Packed_set (ends0,
        (PM.add x
          (PM.add n1
            (add_packed e0
              (match PM.find n1 m with
               | Some t1 -> t1
               | None -> no_packed)) m) next))))

type packed_sets = packed_set PM.t

(** val add_config : packed_sets -> packed_config -> packed_sets **)

let add_config m c =
  PM.add (fst c)
    (add_packed (snd c)
      (match PM.find (fst c) m with
       | Some t0 -> t0
       | None -> no_packed)) m

(** val pack_set : packed_config list -> packed_sets **)

let pack_set d =
  fold_left add_config d PM.empty

(** val holds : packed_sets -> positive -> packed -> bool **)

let holds m s e =
  match PM.find s m with
  | Some t0 -> holds_packed t0 e
  | None -> false

(** val mem0 : positive -> positive list -> bool **)

let mem0 x l =
  existsb (Coq_Pos.eqb x) l

(** val starts_withinb : bound -> bag -> bag -> bool **)

let starts_withinb bd c extra =
  match bd with
  | Tokens n0 -> forallb (fun l -> N.leb (many c l) n0) (support extra)
  | _ -> within bd (total c)

(** val initialb : bound -> system -> counted -> bool **)

let initialb bd sys c =
  existsb (fun f ->
    (&&)
      ((&&) ((&&) (Coq_Pos.eqb (fst c) f.at_shared) (leb0 f.fixed (snd c)))
        (forallb (fun l -> mem0 l f.any) (support (minus (snd c) f.fixed))))
      (starts_withinb bd (snd c) (minus (snd c) f.fixed))) sys.families

(** val leads :
    bound -> rule_index -> counted -> positive option -> counted -> bool **)

let leads bd ix c by_ d =
  existsb (fun r ->
    (&&) ((&&) (Coq_Pos.eqb (fst c) r.src) (Coq_Pos.eqb (fst d) r.dst))
      (existsb (eqb0 (snd d)) (fire bd r (snd c)))) (rules_led ix (fst c) by_)

(** val coversb : counted -> counted -> bool **)

let coversb c t0 =
  (&&) (Coq_Pos.eqb (fst c) (fst t0)) (leb0 (snd t0) (snd c))

type taken_steps = (positive option * counted) list

(** val check_steps :
    bound -> rule_index -> counted -> taken_steps -> bool **)

let rec check_steps bd ix now = function
| [] -> true
| p :: t0 ->
  let (by_, d) = p in (&&) (leads bd ix now by_ d) (check_steps bd ix d t0)

(** val ends : counted -> taken_steps -> counted **)

let rec ends now = function
| [] -> now
| p :: t0 -> let (_, d) = p in ends d t0

(** val visited : counted -> taken_steps -> PS.t **)

let visited start later =
  fold_right (fun e -> PS.add (fst (snd e))) (PS.add (fst start) PS.empty)
    later

(** val check_run : bound -> system -> counted -> taken_steps -> bool **)

let check_run bd sys start later =
  let there = visited start later in
  (&&) (initialb bd sys start)
    (check_steps bd
      (index_rules (filter (fun r -> PS.mem r.src there) sys.rules)) start
      later)

(** val check_trace :
    bound -> system -> counted list -> counted -> taken_steps -> bool **)

let check_trace bd sys targets start later =
  (&&) (check_run bd sys start later)
    (existsb (coversb (ends start later)) targets)

(** val extras : positive list -> (positive -> n) -> n option -> bag list **)

let rec extras any0 most0 room =
  match any0 with
  | [] -> no_threads :: []
  | x :: t0 ->
    flat_map (fun j ->
      map (plus (some x j))
        (extras t0 most0 (option_map (fun n0 -> N.sub n0 j) room)))
      (counts_to
        (match room with
         | Some n0 -> N.min n0 (most0 x)
         | None -> most0 x))

(** val starts : bound -> family -> bag list option **)

let starts bd f =
  let extra = nodup Coq_Pos.eq_dec f.any in
  (match extra with
   | [] -> Some (f.fixed :: [])
   | _ :: _ ->
     (match bd with
      | Any -> None
      | Threads n0 ->
        if N.leb (total f.fixed) n0
        then let room = N.sub n0 (total f.fixed) in
             Some
             (map (plus f.fixed) (extras extra (fun _ -> room) (Some room)))
        else Some []
      | Tokens n0 ->
        Some
          (map (plus f.fixed)
            (extras extra (fun l -> N.sub n0 (many f.fixed l)) None))))

(** val number : 'a1 list -> n **)

let number l =
  fold_left (fun n0 _ -> N.succ n0) l N0

(** val too_many : bound -> n -> family -> bool **)

let too_many bd known0 f =
  existsb (fun l ->
    match bd with
    | Any -> true
    | Threads n0 -> N.ltb known0 (N.sub n0 (total f.fixed))
    | Tokens n0 -> N.ltb known0 (N.sub n0 (many f.fixed l))) f.any

(** val check_starts : bound -> n -> packed_sets -> family -> bool **)

let check_starts bd known0 ix f =
  if too_many bd known0 f
  then false
  else (match starts bd f with
        | Some l ->
          forallb (fun c ->
            (||) (negb (within bd (total c)))
              (holds ix f.at_shared (entries c))) l
        | None -> false)

(** val check_forward :
    bound -> (packed -> bool) -> system -> (packed_config -> bool) ->
    packed_config list -> packed_sets -> bool **)

let check_forward bd counts sys bad d ix =
  let rx = pack_rules (filter (fun r -> PM.mem r.src ix) sys.rules) in
  forallb (fun c ->
    (&&) (negb (bad c))
      (all_rules rx (fun r ->
        forallb (fun d0 -> (||) (negb (counts d0)) (holds ix r.whole.dst d0))
          (packed_fire bd r (snd c))) c)) d

(** val check_set :
    bound -> system -> (packed_config -> bool) -> packed_config list -> bool **)

let check_set bd sys bad d =
  let ix = pack_set d in
  (&&) (forallb (check_starts bd (number d) ix) sys.families)
    (check_forward bd (fun _ -> true) sys bad d ix)

(** val index_targets : counted list -> packed list PM.t **)

let index_targets targets =
  PM.map (map (fun t0 -> entries (snd t0))) (group fst targets)

(** val covers_one : packed list PM.t -> packed_config -> bool **)

let covers_one tx c =
  existsb (fun t0 ->
    match drops t0 (snd c) with
    | Some _ -> true
    | None -> false) (lookup tx (fst c))

(** val check_closed :
    bound -> system -> counted list -> packed_config list -> bool **)

let check_closed bd sys targets d =
  let tx = index_targets targets in check_set bd sys (covers_one tx) d

type ideal = bag * PS.t

(** val only : (positive -> bool) -> bag -> bag **)

let only keep b =
  PM.fold (fun l n0 acc -> if keep l then PM.add l n0 acc else acc) b
    no_threads

(** val counts_out : ideal -> positive -> bool **)

let counts_out m l =
  negb (PS.mem l (snd m))

(** val holds_entries : ideal -> (positive * n) list -> bool **)

let holds_entries m es =
  forallb (fun e ->
    (||) (PS.mem (fst e) (snd m)) (N.leb (snd e) (many (fst m) (fst e)))) es

(** val belowb : ideal -> bag -> bool **)

let belowb m c =
  holds_entries m (entries c)

(** val ideal_leb : ideal -> ideal -> bool **)

let ideal_leb m n0 =
  (&&) (belowb n0 (fst m)) (PS.subset (snd m) (snd n0))

type downward = ideal list PM.t

(** val image : rule -> PS.t -> PS.t **)

let image r s =
  if stays r
  then s
  else fold_right (fun l acc -> fold_right PS.add acc (present (fates r l)))
         PS.empty (PS.elements s)

(** val post_of : (positive * n) list -> rule -> ideal -> ideal list **)

let post_of taken r m =
  if holds_entries m taken
  then let rest0 = only (counts_out m) (minus (fst m) r.take) in
       map (fun b -> ((plus (plus r.put r.spawn) b), (image r (snd m))))
         (after r rest0)
  else []

(** val nonblocking : rule -> bool **)

let nonblocking r =
  forallb (fun e -> match snd e with
                    | [] -> false
                    | _ :: _ -> true) (PM.elements r.moves)

type listing = n * ideal list

(** val count_all : ideal list -> listing **)

let count_all ms =
  ((N.of_nat (length ms)), ms)

(** val by_local : ideal list -> listing PM.t **)

let by_local ms =
  PM.map (fun l -> count_all (map snd l))
    (group fst
      (flat_map (fun m ->
        map (fun x -> (x, m)) (app (support (fst m)) (PS.elements (snd m))))
        ms))

type ideals = { same : ideal list PM.t; with_local : listing PM.t;
                every : listing }

(** val index_ideals : ideal list -> ideals **)

let index_ideals ms =
  { same = (group (fun m -> bag_key (fst m)) ms); with_local = (by_local ms);
    every = (count_all ms) }

(** val candidates : ideals -> ideal -> ideal list **)

let candidates ix n0 =
  snd
    (fold_right (fun x best ->
      match PM.find x ix.with_local with
      | Some l -> if N.leb (fst best) (fst l) then best else l
      | None -> (N0, [])) ix.every
      (app (support (fst n0)) (PS.elements (snd n0))))

(** val has : ideals PM.t -> positive -> ideal -> bool **)

let has x s n0 =
  match PM.find s x with
  | Some ix ->
    let es = entries (fst n0) in
    let holds0 = fun m ->
      (&&) (holds_entries m es) (PS.subset (snd n0) (snd m))
    in
    (||) (existsb holds0 (lookup ix.same (bag_key (fst n0))))
      (existsb holds0 (candidates ix n0))
  | None -> false

(** val locals_of : ideal -> packed **)

let locals_of m =
  app (entries (fst m)) (map (fun l -> (l, (Npos XH))) (PS.elements (snd m)))

(** val check_downward : system -> counted list -> downward -> bool **)

let check_downward sys targets d =
  let x = PM.map index_ideals d in
  let rx =
    index_with (fun r -> ((entries r.take), r))
      (filter (fun r -> PM.mem r.src d) sys.rules)
  in
  (&&)
    ((&&)
      ((&&) (forallb nonblocking sys.rules)
        (forallb (fun t0 ->
          let (s, b) = t0 in
          let es = entries b in
          negb (existsb (fun m -> holds_entries m es) (lookup d s))) targets))
      (forallb (fun f ->
        has x f.at_shared (f.fixed, (fold_right PS.add PS.empty f.any)))
        sys.families))
    (forallb (fun e ->
      forallb (fun m ->
        all_rules rx (fun r ->
          let d0 = (snd r).dst in
          forallb (fun n0 ->
            (||) ((&&) (Coq_Pos.eqb (fst e) d0) (ideal_leb n0 m))
              (has x d0 n0)) (post_of (fst r) (snd r) m)) ((fst e),
          (locals_of m))) (snd e)) (PM.elements d))

type partners = { class_of : positive PM.t; rows : PS.t PM.t }

type views = partners PM.t

(** val class_row : partners -> positive -> PS.t **)

let class_row g c =
  match PM.find c g.rows with
  | Some s -> s
  | None -> PS.empty

(** val row : partners -> positive -> PS.t **)

let row g a =
  match PM.find a g.class_of with
  | Some c -> class_row g c
  | None -> PS.empty

(** val pair : partners -> positive -> positive -> bool **)

let pair g a b =
  PS.mem b (row g a)

(** val single : partners -> positive -> bool **)

let single g a =
  PM.mem a g.class_of

(** val states : partners -> PS.t **)

let states g =
  fold_right PS.add PS.empty (map fst (PM.elements g.class_of))

(** val classes : partners -> positive list -> positive list **)

let classes g l =
  PS.elements
    (fold_right PS.add PS.empty
      (flat_map (fun a ->
        match PM.find a g.class_of with
        | Some c -> c :: []
        | None -> []) l))

(** val symmetric : partners -> bool **)

let symmetric g =
  forallb (fun e ->
    let s = class_row g (fst e) in
    (&&) (PS.subset s (states g))
      (forallb (fun d ->
        forallb (fun m -> PS.mem (fst m) (class_row g d)) (snd e))
        (classes g (PS.elements s))))
    (PM.elements (group snd (PM.elements g.class_of)))

(** val together : partners -> bag -> bool **)

let together g b =
  let s = support b in
  forallb (fun a ->
    (&&) ((&&) (single g a) ((||) (N.leb (many b a) (Npos XH)) (pair g a a)))
      (forallb (fun c -> (||) (Coq_Pos.eqb a c) (pair g a c)) s)) s

(** val builtb : views -> counted -> bool **)

let builtb v c =
  match PM.find (fst c) v with
  | Some g -> together g (snd c)
  | None -> false

(** val bystanders : partners -> bag -> PS.t **)

let bystanders g taken =
  match support taken with
  | [] -> states g
  | t0 :: ts -> fold_right (fun u s -> PS.inter (row g u) s) (row g t0) ts

(** val check_bystanders : partners -> partners -> rule -> PS.t -> bool **)

let check_bystanders g h r by_ =
  let arrivals =
    flat_map (fun b ->
      match PM.find b g.class_of with
      | Some c -> map (fun y -> (c, y)) (present (fates r b))
      | None -> []) (PS.elements by_)
  in
  forallb (fun e ->
    let others = image r (PS.inter (class_row g (fst e)) by_) in
    forallb (fun d -> PS.subset others (class_row h d))
      (classes h (map snd (snd e)))) (PM.elements (group fst arrivals))

(** val check_views_step : views -> rule -> bool **)

let check_views_step v r =
  match PM.find r.src v with
  | Some g ->
    if together g r.take
    then (match PM.find r.dst v with
          | Some h ->
            let arrived = plus r.put r.spawn in
            let by_ = bystanders g r.take in
            let others = image r by_ in
            (&&)
              ((&&)
                ((&&) (together h arrived)
                  ((||) ((&&) (Coq_Pos.eqb r.src r.dst) (stays r))
                    (forallb (single h) (PS.elements others))))
                (forallb (fun a -> PS.subset others (row h a))
                  (support arrived)))
              ((||) ((&&) (Coq_Pos.eqb r.src r.dst) (stays r))
                (check_bystanders g h r by_))
          | None -> false)
    else true
  | None -> true

(** val check_views_start : views -> family -> bool **)

let check_views_start v f =
  match PM.find f.at_shared v with
  | Some g ->
    (&&) ((&&) (together g f.fixed) (forallb (single g) f.any))
      (forallb (fun a -> forallb (pair g a) f.any)
        (app (support f.fixed) f.any))
  | None -> false

(** val check_views : system -> views -> bool **)

let check_views sys v =
  (&&)
    ((&&) (forallb (fun e -> symmetric (snd e)) (PM.elements v))
      (forallb (check_views_start v) sys.families))
    (forallb (check_views_step v) sys.rules)

type basis = bag list PM.t

type basis_index = bag list PM.t PM.t

(** val first_key : bag -> positive **)

let first_key b =
  leader_key (match support b with
              | [] -> None
              | l :: _ -> Some l)

(** val index_basis : basis -> basis_index **)

let index_basis b =
  PM.map (group first_key) b

(** val aboveb : basis_index -> (counted -> bool) -> counted -> bool **)

let aboveb x ruled_out0 c =
  (||)
    (match PM.find (fst c) x with
     | Some m ->
       (||) (existsb (fun b -> leb0 b (snd c)) (lookup m (leader_key None)))
         (existsb (fun l ->
           existsb (fun b -> leb0 b (snd c)) (lookup m (leader_key (Some l))))
           (support (snd c)))
     | None -> false) (ruled_out0 c)

(** val check_rule :
    basis -> basis_index -> (counted -> bool) -> rule -> bool **)

let check_rule b x ruled_out0 r =
  forallb (fun b0 ->
    forallb (fun w ->
      (||) ((&&) (Coq_Pos.eqb r.src r.dst) (leb0 b0 w))
        (aboveb x ruled_out0 (r.src, w))) (predecessors r b0))
    (lookup b r.dst)

(** val starts_below : family -> bag -> bool **)

let starts_below f b =
  negb (forallb (fun l -> mem0 l f.any) (support (minus b f.fixed)))

(** val check_basis :
    system -> counted list -> basis -> (counted -> bool) -> bool **)

let check_basis sys targets b ruled_out0 =
  let x = index_basis b in
  (&&)
    ((&&) (forallb (aboveb x ruled_out0) targets)
      (forallb (check_rule b x ruled_out0) sys.rules))
    (forallb (fun f -> forallb (starts_below f) (lookup b f.at_shared))
      sys.families)

type vector = { of_shared : z PM.t; of_local : z PM.t }

(** val weight : z PM.t -> positive -> z **)

let weight m x =
  match PM.find x m with
  | Some z0 -> z0
  | None -> Z0

(** val sum : vector -> bag -> z **)

let sum v b =
  fold_right (fun e n0 ->
    Z.add (Z.mul (weight v.of_local (fst e)) (Z.of_N (snd e))) n0) Z0
    (PM.elements b)

(** val value : vector -> counted -> z **)

let value v c =
  Z.add (weight v.of_shared (fst c)) (sum v (snd c))

(** val nonnegative : vector -> bool **)

let nonnegative v =
  forallb (fun e -> Z.leb Z0 (snd e)) (PM.elements v.of_local)

(** val check_vector_step : views -> vector -> z -> rule -> bool **)

let check_vector_step v v0 k r =
  match PM.find r.src v with
  | Some g ->
    if together g r.take
    then (&&)
           (Z.leb
             (Z.add
               (Z.add (weight v0.of_shared r.dst)
                 (Z.add (sum v0 r.put) (sum v0 r.spawn))) k)
             (value v0 (r.src, r.take)))
           ((||) (stays r)
             (forallb (fun b ->
               forallb (fun y ->
                 Z.leb (weight v0.of_local y) (weight v0.of_local b))
                 (present (fates r b))) (PS.elements (bystanders g r.take))))
    else true
  | None -> true

(** val check_vector : system -> views -> vector -> bool **)

let check_vector sys v v0 =
  (&&)
    ((&&) (nonnegative v0)
      (forallb (fun f ->
        forallb (fun l -> Z.leb (weight v0.of_local l) Z0) f.any)
        sys.families)) (forallb (check_vector_step v v0 Z0) sys.rules)

(** val exceeds : system -> vector -> counted -> bool **)

let exceeds sys v c =
  forallb (fun f -> Z.ltb (value v (f.at_shared, f.fixed)) (value v c))
    sys.families

type division =
| Divide of PS.t * division * division
| Settled of vector * z list

(** val inside : positive -> PS.t list -> bool **)

let inside s sets =
  existsb (PS.mem s) sets

(** val enters : positive -> positive -> PS.t -> bool **)

let enters a b x =
  (&&) (negb (PS.mem a x)) (PS.mem b x)

(** val drop_of : (PS.t -> bool) -> (PS.t * z) list -> z **)

let drop_of test entered =
  fold_right (fun e n0 -> Z.add (if test (fst e) then snd e else Z0) n0) Z0
    entered

(** val check_leaf_step :
    views -> PS.t list -> (PS.t * z) list -> vector -> rule -> bool **)

let check_leaf_step v never entered v0 r =
  (||) ((||) (inside r.src never) (inside r.dst never))
    (check_vector_step v v0 (drop_of (enters r.src r.dst) entered) r)

(** val check_leaf :
    system -> views -> PS.t list -> PS.t list -> vector -> z list -> bool **)

let check_leaf sys v never entered v0 drops0 =
  (&&)
    ((&&)
      ((&&)
        ((&&) (nonnegative v0)
          (forallb (fun f ->
            forallb (fun l -> Z.leb (weight v0.of_local l) Z0) f.any)
            sys.families)) (Nat.eqb (length drops0) (length entered)))
      (forallb (Z.leb Z0) drops0))
    (forallb (check_leaf_step v never (combine entered drops0) v0) sys.rules)

(** val check_tree :
    system -> views -> PS.t list -> PS.t list -> division -> bool **)

let rec check_tree sys v never entered = function
| Divide (x, a, b) ->
  (&&)
    ((&&) (forallb (fun f -> negb (PS.mem f.at_shared x)) sys.families)
      (check_tree sys v (x :: never) entered a))
    (check_tree sys v never (x :: entered) b)
| Settled (v0, drops0) -> check_leaf sys v never entered v0 (rev drops0)

(** val tree_exceeds : system -> PS.t list -> division -> counted -> bool **)

let rec tree_exceeds sys never t0 c =
  match t0 with
  | Divide (x, a, b) ->
    (&&) (tree_exceeds sys (x :: never) a c) (tree_exceeds sys never b c)
  | Settled (v, drops0) ->
    (||) (inside (fst c) never)
      (forallb (fun f ->
        Z.ltb (value v (f.at_shared, f.fixed))
          (Z.add (value v c) (fold_right Z.add Z0 drops0))) sys.families)

type vectors = { of_all_runs : vector list; by_cases : division list }

(** val no_vectors : vectors -> bool **)

let no_vectors vs =
  let { of_all_runs = of_all_runs0; by_cases = by_cases0 } = vs in
  (match of_all_runs0 with
   | [] -> (match by_cases0 with
            | [] -> true
            | _ :: _ -> false)
   | _ :: _ -> false)

(** val ruled_out : system -> views option -> vectors -> counted -> bool **)

let ruled_out sys v vs c =
  match v with
  | Some v0 ->
    (||)
      ((||) (negb (builtb v0 c))
        (existsb (fun v1 -> exceeds sys v1 c) vs.of_all_runs))
      (existsb (fun t0 -> tree_exceeds sys [] t0 c) vs.by_cases)
  | None -> false

(** val check_invariants :
    system -> counted list -> views option -> vectors -> basis -> bool **)

let check_invariants sys targets v vs b =
  (&&)
    (match v with
     | Some v0 ->
       (&&)
         ((&&) (check_views sys v0)
           (forallb (check_vector sys v0) vs.of_all_runs))
         (forallb (check_tree sys v0 [] []) vs.by_cases)
     | None -> no_vectors vs) (check_basis sys targets b (ruled_out sys v vs))

(** val packed_many : packed -> positive -> n **)

let rec packed_many c x =
  match c with
  | [] -> N0
  | p :: t0 ->
    let (y, n0) = p in
    if Coq_Pos.eqb x y then N.add n0 (packed_many t0 x) else packed_many t0 x

(** val packed_value : (positive * z) list -> packed -> z **)

let packed_value terms c =
  fold_right (fun e n0 ->
    Z.add (Z.mul (snd e) (Z.of_N (packed_many c (fst e)))) n0) Z0 terms

(** val satisfied : packed_index -> packed_config -> condition -> bool **)

let rec satisfied ix c = function
| At_least (terms, least0) -> Z.leb least0 (packed_value terms (snd c))
| Dead -> stuck Any ix c
| Live -> negb (stuck Any ix c)
| All_of parts -> forallb (satisfied ix c) parts
| Any_of parts -> existsb (satisfied ix c) parts

(** val check_condition_run :
    bound -> system -> condition -> counted -> taken_steps -> bool **)

let check_condition_run bd sys k start later =
  let last = ends start later in
  (&&) (check_run bd sys start later)
    (satisfied (pack_rules sys.rules) ((fst last), (entries (snd last))) k)

(** val check_condition_set :
    bound -> system -> condition -> packed_config list -> bool **)

let check_condition_set bd sys k d =
  let ix = pack_rules sys.rules in
  check_set bd sys (fun c -> satisfied ix c k) d

type merging = positive option PM.t

(** val merged_to : merging -> positive -> positive option **)

let merged_to m l =
  match PM.find l m with
  | Some o -> o
  | None -> Some l

(** val merge_threads : merging -> positive list -> positive list **)

let merge_threads m ls =
  present (map (merged_to m) ls)

(** val merge : merging -> bag -> bag **)

let merge m b =
  fold_right (fun e acc ->
    plus (at_option (merged_to m (fst e)) (snd e)) acc) no_threads (entries b)

(** val merge_counted : merging -> counted -> counted **)

let merge_counted m c =
  ((fst c), (merge m (snd c)))

(** val merge_family : merging -> family -> family **)

let merge_family m f =
  { at_shared = f.at_shared; fixed = (merge m f.fixed); any =
    (merge_threads m f.any) }

(** val simple_rule : positive -> positive -> bag -> bag -> rule **)

let simple_rule s t0 taken arrived =
  { src = s; dst = t0; take = taken; put = arrived; spawn = no_threads;
    moves = PM.empty }

(** val merge_rule : merging -> rule -> rule **)

let merge_rule m r =
  simple_rule r.src r.dst (merge m r.take) (merge m (plus r.put r.spawn))

(** val join : rule -> rule -> rule **)

let join r t0 =
  simple_rule r.src t0.dst (plus r.take (minus t0.take r.put))
    (plus t0.put (minus r.put t0.take))

(** val collect : ('a1 -> 'a2 list option) -> 'a1 list -> 'a2 list option **)

let rec collect f = function
| [] -> Some []
| x :: t0 ->
  (match f x with
   | Some a ->
     (match collect f t0 with
      | Some b -> Some (app a b)
      | None -> None)
   | None -> None)

(** val extend :
    PS.t -> (positive -> rule list) -> nat -> rule -> rule list option **)

let rec extend kept leaving n0 done0 =
  if PS.mem done0.dst kept
  then Some (done0 :: [])
  else (match n0 with
        | O -> None
        | S n1 ->
          collect (fun r -> extend kept leaving n1 (join done0 r))
            (leaving done0.dst))

(** val paths :
    rule list -> PS.t -> (positive -> rule list) -> nat -> rule list option **)

let paths rs kept leaving n0 =
  collect (fun r ->
    if PS.mem r.src kept then extend kept leaving n0 r else Some []) rs

type shape = ((positive * positive) * packed) * packed

(** val shape_of : rule -> shape **)

let shape_of r =
  (((r.src, r.dst), (entries r.take)), (entries r.put))

(** val same_entries : packed -> packed -> bool **)

let rec same_entries a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | p :: a0 ->
    let (x, n0) = p in
    (match b with
     | [] -> false
     | p0 :: b0 ->
       let (y, k) = p0 in
       (&&) ((&&) (Coq_Pos.eqb x y) (N.eqb n0 k)) (same_entries a0 b0))

(** val same_shape : shape -> shape -> bool **)

let same_shape a b =
  let (p0, p) = a in
  let (p1, t0) = p0 in
  let (s, d) = p1 in
  let (p2, p') = b in
  let (p3, t') = p2 in
  let (s', d') = p3 in
  (&&)
    ((&&) ((&&) (Coq_Pos.eqb s s') (Coq_Pos.eqb d d')) (same_entries t0 t'))
    (same_entries p p')

(** val shape_key : shape -> positive **)

let shape_key = function
| (p0, p) ->
  let (p1, t0) = p0 in
  let (s, d) = p1 in
  fold_left (fun k e -> Coq_Pos.add (XO k) (fst e)) (app t0 p)
    (Coq_Pos.add (XO s) d)

(** val add_distinct :
    (shape list PM.t * rule list) -> rule -> shape list PM.t * rule list **)

let add_distinct seen r =
  let a = shape_of r in
  let k = shape_key a in
  let alike = lookup (fst seen) k in
  if existsb (same_shape a) alike
  then seen
  else ((PM.add k (a :: alike) (fst seen)), (r :: (snd seen)))

(** val distinct : rule list -> rule list **)

let distinct rs =
  snd (fold_left add_distinct rs (PM.empty, []))

(** val no_spawn : rule -> bool **)

let no_spawn r =
  PM.is_empty r.spawn

(** val check_quotient :
    system -> counted list -> merging -> PS.t -> nat -> (system -> counted
    list -> bool) -> bool **)

let check_quotient sys targets m kept fuel inner =
  let rs = distinct (map (merge_rule m) sys.rules) in
  (&&)
    ((&&)
      ((&&) (forallb stays sys.rules)
        (forallb (fun f -> PS.mem f.at_shared kept) sys.families))
      (forallb (fun t0 -> PS.mem (fst t0) kept) targets))
    (match paths rs kept (lookup (group (fun r -> r.src) rs)) fuel with
     | Some found ->
       let out = distinct found in
       (&&) ((&&) (forallb stays out) (forallb no_spawn out))
         (inner { rules = out; families =
           (map (merge_family m) sys.families) }
           (map (merge_counted m) targets))
     | None -> false)

(** val about : condition -> positive list option **)

let rec about = function
| At_least (terms, _) -> Some (map fst terms)
| All_of parts ->
  fold_right (fun p found ->
    match about p with
    | Some a -> (match found with
                 | Some b -> Some (app a b)
                 | None -> None)
    | None -> None) (Some []) parts
| Any_of parts ->
  fold_right (fun p found ->
    match about p with
    | Some a -> (match found with
                 | Some b -> Some (app a b)
                 | None -> None)
    | None -> None) (Some []) parts
| _ -> None

(** val unchanged : merging -> positive -> bool **)

let unchanged m l =
  forallb (fun e ->
    (&&) (negb (Coq_Pos.eqb (fst e) l))
      (match snd e with
       | Some x -> negb (Coq_Pos.eqb x l)
       | None -> true)) (PM.elements m)

(** val keeps_condition : merging -> condition -> bool **)

let keeps_condition m k =
  match about k with
  | Some ls -> forallb (unchanged m) ls
  | None -> false

(** val keeps : positive -> positive option -> bool **)

let keeps p = function
| Some x -> Coq_Pos.eqb x p
| None -> false

(** val movers : rule -> positive list **)

let movers r =
  app (support r.take)
    (flat_map (fun e ->
      if forallb (keeps (fst e)) (snd e) then [] else (fst e) :: [])
      (PM.elements r.moves))

(** val moving : system -> PS.t **)

let moving sys =
  fold_right PS.add PS.empty (flat_map movers sys.rules)

(** val deadlocked :
    bound -> packed_index -> PS.t -> packed_config -> bool **)

let deadlocked bd ix m c =
  (&&)
    (existsb (fun e -> (&&) (negb (N.eqb (snd e) N0)) (PS.mem (fst e) m))
      (snd c)) (stuck bd ix c)

(** val check_deadlock_run :
    bound -> system -> counted -> taken_steps -> bool **)

let check_deadlock_run bd sys start later =
  let last = ends start later in
  (&&) (check_run bd sys start later)
    (deadlocked bd (pack_rules sys.rules) (moving sys) ((fst last),
      (entries (snd last))))

(** val check_deadlock_set : bound -> system -> packed_config list -> bool **)

let check_deadlock_set bd sys d =
  let ix = pack_rules sys.rules in
  let m = moving sys in check_set bd sys (deadlocked bd ix m) d

(** val no_vanishing : views -> rule -> bool **)

let no_vanishing v r =
  match PM.find r.src v with
  | Some g ->
    (||) ((||) (negb (together g r.take)) (stays r))
      (forallb (fun b ->
        forallb (fun o -> match o with
                          | Some _ -> true
                          | None -> false) (fates r b))
        (PS.elements (states g)))
  | None -> true

(** val check_signed : system -> views -> vector -> bool **)

let check_signed sys v v0 =
  (&&)
    ((&&)
      (forallb (fun f ->
        forallb (fun l -> Z.leb (weight v0.of_local l) Z0) f.any)
        sys.families) (forallb (check_vector_step v v0 Z0) sys.rules))
    ((||) (nonnegative v0) (forallb (no_vanishing v) sys.rules))

(** val alone : rule list -> PS.t option **)

let alone from =
  fold_right (fun r found ->
    match found with
    | Some s ->
      (match entries r.take with
       | [] -> None
       | p :: l0 ->
         let (l, n0) = p in
         (match l0 with
          | [] -> if N.eqb n0 (Npos XH) then Some (PS.add l s) else found
          | _ :: _ -> found))
    | None -> None) (Some PS.empty) from

(** val check_stuck :
    system -> PS.t -> vector list -> rule list -> positive -> partners -> bool **)

let check_stuck sys m vs from s g =
  match alone from with
  | Some free ->
    let waiting =
      filter (fun l -> negb (PS.mem l free)) (PS.elements (states g))
    in
    forallb (fun l ->
      (||) (negb (PS.mem l m))
        (existsb (fun v ->
          (&&) (exceeds sys v (s, (some l (Npos XH))))
            (forallb (fun o ->
              (||) (negb (pair g l o)) (Z.leb Z0 (weight v.of_local o)))
              waiting)) vs)) waiting
  | None -> true

(** val check_deadlock_invariants : system -> views -> vector list -> bool **)

let check_deadlock_invariants sys v vs =
  let leaving = group (fun r -> r.src) sys.rules in
  let m = moving sys in
  (&&)
    ((&&) ((&&) (forallb nonblocking sys.rules) (check_views sys v))
      (forallb (check_signed sys v) vs))
    (forallb (fun e ->
      check_stuck sys m vs (lookup leaving (fst e)) (fst e) (snd e))
      (PM.elements v))

module Sort =
 functor (X:TotalLeBool') ->
 struct
  (** val merge : X.t list -> X.t list -> X.t list **)

  let rec merge l1 l2 =
    let rec merge_aux l3 =
      match l1 with
      | [] -> l3
      | a1 :: l1' ->
        (match l3 with
         | [] -> l1
         | a2 :: l2' ->
           if X.leb a1 a2 then a1 :: (merge l1' l3) else a2 :: (merge_aux l2'))
    in merge_aux l2

  (** val merge_list_to_stack :
      X.t list option list -> X.t list -> X.t list option list **)

  let rec merge_list_to_stack stack l =
    match stack with
    | [] -> (Some l) :: []
    | y :: stack' ->
      (match y with
       | Some l' -> None :: (merge_list_to_stack stack' (merge l' l))
       | None -> (Some l) :: stack')

  (** val merge_stack : X.t list option list -> X.t list **)

  let rec merge_stack = function
  | [] -> []
  | y :: stack' ->
    (match y with
     | Some l -> merge l (merge_stack stack')
     | None -> merge_stack stack')

  (** val iter_merge : X.t list option list -> X.t list -> X.t list **)

  let rec iter_merge stack = function
  | [] -> merge_stack stack
  | a :: l' -> iter_merge (merge_list_to_stack stack (a :: [])) l'

  (** val sort : X.t list -> X.t list **)

  let sort =
    iter_merge []

  (** val flatten_stack : X.t list option list -> X.t list **)

  let rec flatten_stack = function
  | [] -> []
  | o :: stack' ->
    (match o with
     | Some l -> app l (flatten_stack stack')
     | None -> flatten_stack stack')
 end

type terms_type = (positive * z) list

(** val then_ : comparison -> comparison -> comparison **)

let then_ c d =
  match c with
  | Eq -> d
  | _ -> c

(** val compare_terms : terms_type -> terms_type -> comparison **)

let rec compare_terms s t0 =
  match s with
  | [] -> (match t0 with
           | [] -> Eq
           | _ :: _ -> Lt)
  | p :: s0 ->
    let (x, k) = p in
    (match t0 with
     | [] -> Gt
     | p0 :: t1 ->
       let (y, m) = p0 in
       then_ (Coq_Pos.compare x y)
         (then_ (Z.compare k m) (compare_terms s0 t1)))

(** val rank : condition -> n **)

let rank = function
| At_least (_, _) -> N0
| Dead -> Npos XH
| Live -> Npos (XO XH)
| All_of _ -> Npos (XI XH)
| Any_of _ -> Npos (XO (XO XH))

(** val compare_conditions : condition -> condition -> comparison **)

let rec compare_conditions a b =
  let each =
    let rec each p q =
      match p with
      | [] -> (match q with
               | [] -> Eq
               | _ :: _ -> Lt)
      | x :: p0 ->
        (match q with
         | [] -> Gt
         | y :: q0 -> then_ (compare_conditions x y) (each p0 q0))
    in each
  in
  (match a with
   | At_least (s, n0) ->
     (match b with
      | At_least (t0, m) -> then_ (compare_terms s t0) (Z.compare n0 m)
      | _ -> N.compare (rank a) (rank b))
   | All_of p ->
     (match b with
      | All_of q -> each p q
      | _ -> N.compare (rank a) (rank b))
   | Any_of p ->
     (match b with
      | Any_of q -> each p q
      | _ -> N.compare (rank a) (rank b))
   | _ -> N.compare (rank a) (rank b))

module Order =
 struct
  type t = condition

  (** val below : condition -> condition -> bool **)

  let below a b =
    match compare_conditions a b with
    | Gt -> false
    | _ -> true

  (** val leb : condition -> condition -> bool **)

  let leb a b =
    (||) (below a b) (negb (below b a))
 end

module Sorted = Sort(Order)

(** val once : condition list -> condition list **)

let rec once = function
| [] -> []
| x :: t0 ->
  (match once t0 with
   | [] -> x :: []
   | y :: t1 ->
     (match compare_conditions x y with
      | Eq -> y :: t1
      | _ -> x :: (y :: t1)))

(** val tidy : condition list -> condition list **)

let tidy parts =
  once (Sorted.sort parts)

(** val single0 :
    (condition list -> condition) -> condition list -> condition **)

let single0 make parts = match parts with
| [] -> make parts
| p :: l -> (match l with
             | [] -> p
             | _ :: _ -> make parts)

(** val is_none : condition -> bool **)

let is_none = function
| Any_of parts -> (match parts with
                   | [] -> true
                   | _ :: _ -> false)
| _ -> false

(** val is_all : condition -> bool **)

let is_all = function
| All_of parts -> (match parts with
                   | [] -> true
                   | _ :: _ -> false)
| _ -> false

(** val join_all : condition list -> condition **)

let join_all parts =
  if existsb is_none parts
  then Any_of []
  else single0 (fun x -> All_of x)
         (tidy
           (flat_map (fun p ->
             match p with
             | All_of inner -> inner
             | _ -> p :: []) parts))

(** val join_any : condition list -> condition **)

let join_any parts =
  if existsb is_all parts
  then All_of []
  else single0 (fun x -> Any_of x)
         (tidy
           (flat_map (fun p ->
             match p with
             | Any_of inner -> inner
             | _ -> p :: []) parts))

(** val at_least : terms_type -> z -> condition **)

let at_least terms least0 =
  if (&&) (Z.leb least0 Z0) (forallb (fun e -> Z.leb Z0 (snd e)) terms)
  then All_of []
  else if (&&) (Z.ltb Z0 least0) (forallb (fun e -> Z.leb (snd e) Z0) terms)
       then Any_of []
       else At_least (terms, least0)

(** val negate : condition -> condition **)

let rec negate = function
| At_least (terms, least0) ->
  At_least ((map (fun e -> ((fst e), (Z.opp (snd e)))) terms),
    (Z.sub (Zpos XH) least0))
| Dead -> Live
| Live -> Dead
| All_of parts -> join_any (map negate parts)
| Any_of parts -> join_all (map negate parts)

(** val covering : bag -> condition **)

let covering b =
  join_all
    (map (fun e -> At_least ((((fst e), (Zpos XH)) :: []), (Z.of_N (snd e))))
      (entries b))

(** val live : rule list -> condition **)

let live rs =
  join_any (map (fun r -> covering r.take) rs)

(** val in_numbers : rule list -> condition -> condition **)

let rec in_numbers rs = function
| At_least (terms, least0) -> at_least terms least0
| Dead -> negate (live rs)
| Live -> live rs
| All_of parts -> join_all (map (in_numbers rs) parts)
| Any_of parts -> join_any (map (in_numbers rs) parts)

(** val one_state : positive -> system -> bool **)

let one_state s sys =
  (&&)
    (forallb (fun r ->
      (&&) (stays r) ((&&) (Coq_Pos.eqb r.src s) (Coq_Pos.eqb r.dst s)))
      sys.rules) (forallb (fun f -> Coq_Pos.eqb f.at_shared s) sys.families)

type comparison_type = terms_type * z

type held = { known : comparison_type PM.t; next_place : positive;
              undecided : condition list list }

(** val nothing_held : held **)

let nothing_held =
  { known = PM.empty; next_place = XH; undecided = [] }

(** val assume : held -> condition -> held option **)

let rec assume h = function
| At_least (terms, least0) ->
  Some { known = (PM.add h.next_place (terms, least0) h.known); next_place =
    (Coq_Pos.succ h.next_place); undecided = h.undecided }
| All_of parts ->
  fold_left (fun found p ->
    match found with
    | Some h0 -> assume h0 p
    | None -> None) parts (Some h)
| Any_of parts ->
  Some { known = h.known; next_place = h.next_place; undecided =
    (app h.undecided (parts :: [])) }
| _ -> None

type linear = { weights : z PM.t; compared : (positive * n) list;
                trapped : (positive * n) list }

type case =
| Split of n
| Linear of linear

(** val pick : n -> 'a1 list -> ('a1 * 'a1 list) option **)

let rec pick i = function
| [] -> None
| x :: t0 ->
  if N.eqb i N0
  then Some (x, t0)
  else (match pick (N.pred i) t0 with
        | Some p -> let (y, rest0) = p in Some (y, (x :: rest0))
        | None -> None)

(** val add_terms : z -> terms_type -> z PM.t -> z PM.t **)

let add_terms k terms m =
  fold_right (fun e m0 ->
    PM.add (fst e) (Z.add (weight m0 (fst e)) (Z.mul k (snd e))) m0) m terms

(** val use :
    comparison_type PM.t -> (positive * n) list -> (z PM.t * z) -> (z
    PM.t * z) option **)

let rec use available l sum0 =
  match l with
  | [] -> Some sum0
  | p :: t0 ->
    let (i, times) = p in
    (match PM.find i available with
     | Some c ->
       let (terms, least0) = c in
       use available t0 ((add_terms (Z.of_N times) terms (fst sum0)),
         (Z.add (snd sum0) (Z.mul (Z.of_N times) least0)))
     | None -> None)

(** val as_vector : z PM.t -> vector **)

let as_vector m =
  { of_shared = PM.empty; of_local = m }

(** val never_grows : system -> z PM.t -> bool **)

let never_grows sys w =
  (&&)
    (forallb (fun r ->
      Z.leb (Z.add (sum (as_vector w) r.put) (sum (as_vector w) r.spawn))
        (sum (as_vector w) r.take)) sys.rules)
    (forallb (fun f -> forallb (fun l -> Z.leb (weight w l) Z0) f.any)
      sys.families)

(** val contradicts :
    system -> comparison_type PM.t -> held -> linear -> bool **)

let contradicts sys traps0 h x =
  (&&) (never_grows sys x.weights)
    (match use h.known x.compared (PM.empty, Z0) with
     | Some found ->
       (match use traps0 x.trapped found with
        | Some p ->
          let (used, asked) = p in
          (&&)
            ((&&)
              (forallb (fun e -> Z.leb (snd e) (weight x.weights (fst e)))
                (PM.elements used))
              (forallb (fun e -> Z.leb (weight used (fst e)) (snd e))
                (PM.elements x.weights)))
            (forallb (fun f ->
              Z.ltb (sum (as_vector x.weights) f.fixed) asked) sys.families)
        | None -> false)
     | None -> false)

(** val assume_each : held -> condition list -> held list option **)

let rec assume_each h = function
| [] -> Some []
| p :: t0 ->
  (match assume h p with
   | Some h' ->
     (match assume_each h t0 with
      | Some rest0 -> Some (h' :: rest0)
      | None -> None)
   | None -> None)

(** val check_cases :
    system -> comparison_type PM.t -> case list -> held list -> bool **)

let rec check_cases sys traps0 cases0 waiting =
  match cases0 with
  | [] -> (match waiting with
           | [] -> true
           | _ :: _ -> false)
  | c :: t0 ->
    (match c with
     | Split i ->
       (match waiting with
        | [] -> false
        | h :: ws ->
          (match pick i h.undecided with
           | Some p ->
             let (parts, rest0) = p in
             (match assume_each { known = h.known; next_place = h.next_place;
                      undecided = rest0 } parts with
              | Some hs -> check_cases sys traps0 t0 (app hs ws)
              | None -> false)
           | None -> false))
     | Linear x ->
       (match waiting with
        | [] -> false
        | h :: ws ->
          (&&) (contradicts sys traps0 h x) (check_cases sys traps0 t0 ws)))

(** val in_trap : PS.t -> bag -> bool **)

let in_trap trap b =
  existsb (fun l -> PS.mem l trap) (support b)

(** val check_trap : system -> PS.t -> bool **)

let check_trap sys trap =
  (&&) (forallb (fun f -> in_trap trap f.fixed) sys.families)
    (forallb (fun r ->
      (||) ((||) (negb (in_trap trap r.take)) (in_trap trap r.put))
        (in_trap trap r.spawn)) sys.rules)

(** val number_traps : PS.t list -> positive -> comparison_type PM.t **)

let rec number_traps traps0 i =
  match traps0 with
  | [] -> PM.empty
  | t0 :: more ->
    PM.add i ((map (fun l -> (l, (Zpos XH))) (PS.elements t0)), (Zpos XH))
      (number_traps more (Coq_Pos.succ i))

type refutation = { only_state : positive; traps : PS.t list;
                    cases : case list }

(** val check_refutation :
    bound -> system -> condition -> refutation -> bool **)

let check_refutation bd sys k x =
  match bd with
  | Threads _ -> false
  | _ ->
    (&&)
      ((&&) (one_state x.only_state sys) (forallb (check_trap sys) x.traps))
      (match assume nothing_held (in_numbers sys.rules k) with
       | Some h -> check_cases sys (number_traps x.traps XH) x.cases (h :: [])
       | None -> false)

(** val covering_one : counted list -> condition **)

let covering_one targets =
  join_any (map (fun t0 -> covering (snd t0)) targets)

type proof =
| Closed_ of packed_config list
| Downward_ of downward
| Invariants_ of views option * vectors * basis
| Refutation_ of refutation

type evidence =
| Trace_ of counted * taken_steps
| Proof_ of proof
| Through_ of merging * PS.t * nat * proof

type verdict =
| Safe
| Unsafe
| Invalid

(** val check_proof : bound -> proof -> system -> counted list -> bool **)

let check_proof bd e sys targets =
  match e with
  | Closed_ d -> check_closed bd sys targets d
  | Downward_ d -> check_downward sys targets d
  | Invariants_ (v, vs, b) -> check_invariants sys targets v vs b
  | Refutation_ x -> check_refutation bd sys (covering_one targets) x

(** val check : bound -> system -> counted list -> evidence -> verdict **)

let check bd sys targets = function
| Trace_ (s, l) -> if check_trace bd sys targets s l then Unsafe else Invalid
| Proof_ e0 -> if check_proof bd e0 sys targets then Safe else Invalid
| Through_ (m, kept, fuel, e0) ->
  (match bd with
   | Any ->
     if check_quotient sys targets m kept fuel (check_proof Any e0)
     then Safe
     else Invalid
   | _ -> Invalid)

(** val check_condition_proof :
    bound -> condition -> proof -> system -> bool **)

let check_condition_proof bd k e sys =
  match e with
  | Closed_ d -> check_condition_set bd sys k d
  | Refutation_ x -> check_refutation bd sys k x
  | _ -> false

(** val one_kept_state : system -> PS.t -> bool **)

let one_kept_state sys kept =
  match sys.families with
  | [] -> false
  | f :: _ -> (&&) (one_state f.at_shared sys) (PS.mem f.at_shared kept)

(** val check_condition :
    bound -> system -> condition -> evidence -> verdict **)

let check_condition bd sys k = function
| Trace_ (s, l) ->
  if check_condition_run bd sys k s l then Unsafe else Invalid
| Proof_ e0 -> if check_condition_proof bd k e0 sys then Safe else Invalid
| Through_ (m, kept, fuel, e0) ->
  (match bd with
   | Any ->
     if (&&) ((&&) (keeps_condition m k) (one_kept_state sys kept))
          (check_quotient sys [] m kept fuel (fun q _ ->
            check_condition_proof Any k e0 q))
     then Safe
     else Invalid
   | _ -> Invalid)

(** val no_trees : vectors -> bool **)

let no_trees vs =
  match vs.by_cases with
  | [] -> true
  | _ :: _ -> false

(** val check_deadlock : bound -> system -> evidence -> verdict **)

let check_deadlock bd sys = function
| Trace_ (s, l) -> if check_deadlock_run bd sys s l then Unsafe else Invalid
| Proof_ e0 ->
  (match e0 with
   | Closed_ d -> if check_deadlock_set bd sys d then Safe else Invalid
   | Invariants_ (v0, vs, b) ->
     (match v0 with
      | Some v ->
        (match bd with
         | Any ->
           if (&&) ((&&) (PM.is_empty b) (no_trees vs))
                (check_deadlock_invariants sys v vs.of_all_runs)
           then Safe
           else Invalid
         | _ -> Invalid)
      | None -> Invalid)
   | _ -> Invalid)
| Through_ (_, _, _, _) -> Invalid

type pairs = PS.t PM.t

(** val has_pair : pairs -> positive -> positive -> bool **)

let has_pair m s l =
  match PM.find s m with
  | Some r -> PS.mem l r
  | None -> false

(** val add_pair : positive -> positive -> pairs -> pairs **)

let add_pair s l m =
  PM.add s (PS.add l (match PM.find s m with
                      | Some r -> r
                      | None -> PS.empty)) m

(** val check_runs :
    n -> system -> rule_index -> positive -> counted PM.t -> ((positive
    option * positive option) * counted) list -> counted PM.t option **)

let rec check_runs n0 sys ix place nodes = function
| [] -> Some nodes
| p :: t0 ->
  let (p0, c) = p in
  let (before0, by_) = p0 in
  if (&&) (N.leb (total (snd c)) n0)
       (match before0 with
        | Some i ->
          (match PM.find i nodes with
           | Some b -> leads Any ix b by_ c
           | None -> false)
        | None -> initialb Any sys c)
  then check_runs n0 sys ix (Coq_Pos.succ place) (PM.add place c nodes) t0
  else None

(** val collect_reached :
    counted PM.t -> ((positive * positive) * positive) list -> pairs -> pairs
    option **)

let rec collect_reached nodes l m =
  match l with
  | [] -> Some m
  | p :: t0 ->
    let (p0, i) = p in
    let (s, x) = p0 in
    (match PM.find i nodes with
     | Some c ->
       if (&&) (Coq_Pos.eqb (fst c) s) (negb (N.eqb (many (snd c) x) N0))
       then collect_reached nodes t0 (add_pair s x m)
       else None
     | None -> None)

(** val one : positive -> positive -> counted **)

let one s l =
  (s, (some l (Npos XH)))

(** val add_all : (positive * positive) list -> pairs -> pairs **)

let add_all l m =
  fold_right (fun e -> add_pair (fst e) (snd e)) m l

(** val rest_listed : system -> proof -> pairs -> bool **)

let rest_listed sys rest0 listed =
  match rest0 with
  | Downward_ d ->
    (&&) (check_downward sys [] d)
      (forallb (fun e ->
        forallb (fun m ->
          forallb (has_pair listed (fst e))
            (app (support (fst m)) (PS.elements (snd m)))) (snd e))
        (PM.elements d))
  | Invariants_ (v0, vs, _) ->
    (match v0 with
     | Some v ->
       let { of_all_runs = of_all_runs0; by_cases = by_cases0 } = vs in
       (match of_all_runs0 with
        | [] ->
          (match by_cases0 with
           | [] ->
             (&&) (check_views sys v)
               (forallb (fun e ->
                 forallb (has_pair listed (fst e))
                   (PS.elements (states (snd e)))) (PM.elements v))
           | _ :: _ -> false)
        | _ :: _ -> false)
     | None -> false)
  | _ -> false

type cutoff = { most : n;
                runs : ((positive option * positive option) * counted) list;
                reached : ((positive * positive) * positive) list;
                rest : proof;
                excepted : ((positive * positive) list * evidence) list;
                needed : ((positive * positive) * packed_config list) option }

(** val is_safe : verdict -> bool **)

let is_safe = function
| Safe -> true
| _ -> false

(** val check_needed :
    cutoff -> system -> pairs -> ((positive * positive) * packed_config list)
    -> bool **)

let check_needed k sys m w =
  let few = N.pred k.most in
  let ix = pack_set (snd w) in
  let tx = index_targets ((one (fst (fst w)) (snd (fst w))) :: []) in
  (&&)
    ((&&) (has_pair m (fst (fst w)) (snd (fst w)))
      (forallb (check_starts (Threads few) (number (snd w)) ix) sys.families))
    (check_forward Any (fun d -> N.leb (packed_total d) few) sys
      (covers_one tx) (snd w) ix)

(** val check_cutoff : system -> cutoff -> bool option **)

let check_cutoff sys k =
  match check_runs k.most sys (index_rules sys.rules) XH PM.empty k.runs with
  | Some nodes ->
    (match collect_reached nodes k.reached PM.empty with
     | Some m ->
       if (&&)
            (forallb (fun e ->
              is_safe
                (check Any sys (map (fun p -> one (fst p) (snd p)) (fst e))
                  (snd e))) k.excepted)
            (rest_listed sys k.rest (add_all (flat_map fst k.excepted) m))
       then (match k.needed with
             | Some w -> if check_needed k sys m w then Some true else None
             | None -> Some false)
       else None
     | None -> None)
  | None -> None

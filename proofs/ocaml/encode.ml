(* Numbers and multisets as the proved checker has them. *)
module K = Checker

let rec positive n = if n = 1 then K.XH else if n land 1 = 1 then K.XI (positive (n lsr 1)) else K.XO (positive (n lsr 1))
(* States occur often: the first ones are made once. *)
let made = Array.make 0x10000 K.XH
let state i =
  if i >= Array.length made then positive (i + 1)
  else begin
    if i > 0 && made.(i) == K.XH then made.(i) <- positive (i + 1);
    made.(i)
  end
let natural n = if n = 0 then K.N0 else K.Npos (positive n)
let nat n = let rec go n found = if n = 0 then found else go (n - 1) (K.S found) in go n K.O
let integer n =
  let rec bits n = (* unsigned: the negation of the least 64-bit number is itself *)
    if n = 1L then K.XH
    else let half = bits (Int64.shift_right_logical n 1) in if Int64.logand n 1L = 1L then K.XI half else K.XO half in
  if n = 0L then K.Z0 else if Int64.compare n 0L > 0 then K.Zpos (bits n) else K.Zneg (bits (Int64.neg n))

let ones = Hashtbl.create 64
let bag : Input.bag -> K.bag = function
  | [(l, 1)] ->
    (match Hashtbl.find_opt ones l with
     | Some b -> b
     | None -> let b = K.PM.add (state l) (natural 1) K.no_threads in Hashtbl.add ones l b; b)
  | b -> List.fold_left (fun m (l, n) -> K.PM.add (state l) (natural n) m) K.no_threads b

(* Property files of the model-checking contest, as far as they ask what can be reached. Conditions are joined and negated by proved functions. *)
open Fault
open Encode
module K = Checker

type property =
  | Covers of Input.config list  (* as a set *)
  | Satisfies of K.condition
  | Largest of (K.positive * K.z) list  (* the largest value of a sum *)
  | Deadlock
type asked = { name : string; property : property }

let everything = Covers [(0, [])]
(* Terms in the order of the input, each state once, without zeros. *)
let tidy terms =
  let table = Hashtbl.create 16 in
  let add a b =
    let sum = Int64.add a b in
    if (a < 0L) = (b < 0L) && (sum < 0L) <> (a < 0L) then invalid "a coefficient is too large" else sum in
  List.iter (fun (l, n) -> Hashtbl.replace table l (add n (Option.value ~default:0L (Hashtbl.find_opt table l)))) terms;
  List.sort compare (Hashtbl.fold (fun l n found -> if n = 0L then found else (l, n) :: found) table [])
let encoded = List.map (fun (l, n) -> (state l, integer n))

exception Left_out
let only (e : Xml.element) = match e.children with [one] -> one | _ -> raise Left_out
let rec without (e : Xml.element) =
  { e with children = List.map without (List.filter (fun (c : Xml.element) -> not (List.mem c.name ["description"; "toolspecific"])) e.children) }

let read (input : Input.t) text =
  (* Adds [sign] times an expression in which [counts] counts tokens; gives the constant. *)
  let rec number counts sign terms (e : Xml.element) =
    let sum = List.fold_left (fun n part -> Int64.add n (number counts sign terms part)) 0L in
    match e.name with
    | "integer-constant" ->
      let digits = String.trim e.text in
      let digits = if digits <> "" && digits.[0] = '+' then String.sub digits 1 (String.length digits - 1) else digits in
      let negative = digits <> "" && digits.[0] = '-' in
      let plain = if negative then String.sub digits 1 (String.length digits - 1) else digits in
      if not (Input.is_number plain) || String.length plain > 18 then raise Left_out;
      let n = (if negative then -1 else 1) * Input.number plain in
      if n > 0x7fff_ffff || n < -0x8000_0000 then raise Left_out;
      Int64.of_int (sign * n)
    | name when name = counts ->
      List.iter (fun (place : Xml.element) -> match Input.find input.local (String.trim place.text) with
        | Some l when place.name = "place" -> terms := (l, Int64.of_int sign) :: !terms
        | _ -> raise Left_out) e.children;
      0L
    | "integer-sum" -> sum e.children
    | "integer-difference" ->
      (match e.children with
       | first :: others ->
         List.fold_left (fun n part -> Int64.add n (number counts (- sign) terms part)) (number counts sign terms first) others
       | [] -> raise Left_out)
    | _ -> raise Left_out in
  let at_least a b least =
    let terms = ref [] in
    let left = number "tokens-count" 1 terms a in
    let constant = Int64.add left (number "tokens-count" (-1) terms b) in
    K.at_least (encoded (tidy !terms)) (integer (Int64.sub least constant)) in
  let rec formula (e : Xml.element) : K.condition = match e.name, e.children with
    | "true", _ -> K.All_of []
    | "false", _ -> K.Any_of []
    | "negation", _ -> K.negate (formula (only e))
    | "conjunction", parts -> K.join_all (List.map formula parts)
    | "disjunction", parts -> K.join_any (List.map formula parts)
    | "implication", [a; b] -> let a = formula a in K.join_any [K.negate a; formula b]
    | ("deadlock" | "is-deadlock"), _ -> K.Dead
    | "is-fireable", transitions ->
      K.join_any (List.map (fun (t : Xml.element) -> match Hashtbl.find_opt input.transitions (String.trim t.text) with
        | Some take when t.name = "transition" -> K.covering (bag take)
        | _ -> raise Left_out) transitions)
    | "integer-le", [a; b] -> at_least b a 0L
    | "integer-lt", [a; b] -> at_least b a 1L
    | "integer-ge", [a; b] -> at_least a b 0L
    | "integer-gt", [a; b] -> at_least a b 1L
    | "integer-eq", [a; b] -> let first = at_least a b 0L in K.join_all [first; at_least b a 0L]
    | "integer-ne", [a; b] -> let first = at_least a b 1L in K.join_any [first; at_least b a 1L]
    | _ -> raise Left_out in
  let target (e : Xml.element) =
    if e.name = "place-bound" then begin
      let terms = ref [] in
      ignore (number "place-bound" 1 terms e);
      Largest (encoded (tidy !terms))
    end
    else match e.name, (only e).name with
      | "exists-path", "finally" -> Satisfies (formula (only (only e)))
      | "all-paths", "globally" -> Satisfies (K.negate (formula (only (only e))))
      | _ -> raise Left_out in
  let root = without (Xml.parse text) in
  if root.name <> "property-set" || List.exists (fun (c : Xml.element) -> c.name <> "property") root.children then unreadable "this is no property file";
  let found = List.filter_map (fun (p : Xml.element) ->
    let name = match Xml.child p "id" with Some id -> String.trim id.text | None -> "" in
    match List.filter (fun (c : Xml.element) -> c.name = "formula") p.children with
    | [formula] -> (try Some { name; property = target (only formula) } with Left_out -> None)
    | _ -> None) root.children in
  if found = [] then unreadable "no formula of this property file asks what can be reached";
  found

(* ---- upward closed conditions are asked for as their smallest markings, if these are few ---- *)
let most_markings = 200
exception Too_many
let rec int_of_positive = function K.XH -> 1 | K.XO p -> 2 * int_of_positive p | K.XI p -> (2 * int_of_positive p) + 1
let int_of_integer = function K.Z0 -> 0 | K.Zpos p -> int_of_positive p | K.Zneg p -> - (int_of_positive p)
let rec grows : K.condition -> bool = function
  | At_least (terms, _) -> List.for_all (fun (_, n) -> match n with K.Zpos _ -> true | _ -> false) terms
  | All_of parts | Any_of parts -> List.for_all grows parts
  | Dead | Live -> false
let count n (b : Input.bag) = Option.value ~default:0 (List.assoc_opt n b)
let smallest found =
  let found = List.sort_uniq compare found in
  if List.length found > most_markings then raise Too_many;
  let above b a = a <> b && List.for_all (fun (l, n) -> count l b >= n) a in
  List.filter (fun b -> not (List.exists (above b) found)) found
let limited list = if List.length list > most_markings then raise Too_many else list
let rec markings : K.condition -> Input.bag list = function
  | At_least ([], _) | Dead | Live -> raise Too_many
  | At_least (terms, least) ->
    let upwards left factor = if left <= 0 then 0 else ((left - 1) / factor) + 1 in
    let rec go partial = function
      | [] -> List.map fst partial
      | (l, factor) :: more ->
        let l = int_of_positive l - 1 and factor = int_of_integer factor in
        let next = List.concat_map (fun (chosen, left) ->
          let most = upwards left factor in
          if most > 1 lsl 30 || (more <> [] && most > most_markings) then raise Too_many;
          List.map (fun n -> ((l, n) :: chosen, left - (n * factor))) (if more = [] then [most] else List.init (most + 1) Fun.id)) partial in
        go (if more = [] then next else limited next) more in
    smallest (List.map Input.bag (go [([], int_of_integer least)] terms))
  | All_of parts ->
    let both a b = Input.bag (a @ List.filter_map (fun (l, n) -> if n > count l a then Some (l, n - count l a) else None) b) in
    List.fold_left (fun all part ->
      let these = markings part in
      if List.length all * List.length these > most_markings then raise Too_many;
      smallest (List.concat_map (fun a -> List.map (both a) these) all)) [[]] parts
  | Any_of parts -> smallest (limited (List.concat_map markings parts))
let sought = function
  | Satisfies k when grows k -> (try Covers (List.sort_uniq compare (List.map (fun b -> (0, b)) (markings k))) with Too_many -> Satisfies k)
  | other -> other

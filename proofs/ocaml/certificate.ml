(* The layout of certificates, versions 1 and 2: docs/formats.md. Keys that are not listed there are unreadable. *)
open Fault

type count = Exactly of int | Any_number
type configuration = int * (int * count) list
type weights = { shared : (int * Int64.t) list; local : (int * Int64.t) list }
type block = int * int list * int list option
type condition = At_least of (int * Int64.t) list * Int64.t | Dead | Live | All of condition list | Any_of of condition list
type case = Split of int | Linear of { weights : (int * Int64.t) list; comparisons : (int * Int64.t) list; traps : (int * Int64.t) list }
type branch = Divide of int list | Leaf of weights * Int64.t list
type evidence =
  | Trace of configuration * (int option * configuration) list
  | Closed of configuration list
  | Downward of configuration list
  | Invariants of block list option * weights list * configuration list * branch list list
  | Refutation of int list list * case list
  | Through of int list * (int option * int list) list * evidence
type bound = Any | Threads of int | Tokens of int
type family = { at : int; threads : (int * int) list; any : int list }
type property = Covers of configuration list | Satisfies of condition | Deadlock
type target = { property : property; is_unsafe : bool; by : int }
type cutoff = {
  most : int;
  runs : (int option * int option * configuration) list;
  reachable : (int * int * int) list;
  rest : int;
  except : (int * int * int) list;
  needed : ((int * int) * configuration list) option }
type t = {
  kind : string;
  hash : string;
  families : family list;
  bound : bound;
  init_free : bool;
  shared_names : string array;
  local_names : string array;
  targets : target list;
  undecided : int;
  evidence : evidence array;
  cutoff : cutoff option }

let version = 2

(* ---- shapes ---- *)
let no_part what = unreadable "this is no certificate: expected %s" what
let integer = function
  | Json.Number n -> Int64.of_int n
  | Json.Large digits -> (match Int64.of_string_opt digits with Some n -> n | None -> no_part "a smaller number")
  | _ -> no_part "a number"
let natural = function
  | Json.Number n when n >= 0 && n < 0x1_0000_0000 -> n
  | _ -> no_part "a number below 2^32"
let text = function Json.String s -> s | _ -> no_part "a text"
let flag = function Json.Bool b -> b | _ -> no_part "true or false"
let maybe shape = function Json.Null -> None | value -> Some (shape value)
let map f l = List.rev (List.rev_map f l)
let listed shape = function Json.List values -> map shape values | _ -> no_part "a list"
let two a b = function Json.List [x; y] -> (a x, b y) | _ -> no_part "a list of two"
let three a b c = function Json.List [x; y; z] -> (a x, b y, c z) | _ -> no_part "a list of three"
(* An object with these keys and no others, or their values in this order. [optional] ones may be missing and are null. *)
let record keys optional value =
  let fields = match value with
    | Json.Object fields -> fields
    | Json.List values when List.length values = List.length keys -> List.combine keys values
    | _ -> no_part ("an object with " ^ String.concat ", " keys) in
  List.iter (fun (key, _) -> if not (List.mem key keys) then unreadable "this is no certificate: unknown key `%s`" key) fields;
  fun key -> match List.assoc_opt key fields with
    | Some value -> value
    | None -> if List.mem key optional then Json.Null else unreadable "this is no certificate: `%s` is missing" key
(* A word, or an object with one key. *)
let choice = function
  | Json.String word -> (word, Json.Null)
  | Json.Object [(key, value)] -> (key, value)
  | _ -> no_part "a choice"

let count value = match value with
  | Json.String "any" | Json.Object [("any", Json.Null)] -> Any_number
  | _ -> Exactly (natural value)
let configuration = two natural (listed (two natural count))
let configurations value = listed configuration (record ["configurations"] [] value "configurations")
let weights value =
  let get = record ["shared"; "local"] [] value in
  let pairs key = listed (two natural integer) (get key) in
  { shared = pairs "shared"; local = pairs "local" }
let step value =
  let get = record ["by"; "does"; "after"] ["by"] value in
  ignore (text (get "does"));
  (maybe natural (get "by"), configuration (get "after"))
let sum = listed (two natural integer)
let rec condition value = match choice value with
  | "at-least", body -> let terms, least = two sum integer body in At_least (terms, least)
  | "dead", Json.Null -> Dead
  | "live", Json.Null -> Live
  | "all", body -> All (listed condition body)
  | "any", body -> Any_of (listed condition body)
  | _ -> no_part "a condition"
let case value = match choice value with
  | "split", which -> Split (natural which)
  | "linear", body ->
    let get = record ["weights"; "comparisons"; "traps"] [] body in
    Linear { weights = sum (get "weights"); comparisons = sum (get "comparisons"); traps = sum (get "traps") }
  | _ -> no_part "a case"
let branch value = match choice value with
  | "split", states -> Divide (listed natural states)
  | "leaf", body ->
    let get = record ["shared"; "local"; "drops"] [] body in
    let pairs key = listed (two natural integer) (get key) in
    Leaf ({ shared = pairs "shared"; local = pairs "local" }, listed integer (get "drops"))
  | _ -> no_part "a node of a tree"
let rec evidence value = match choice value with
  | "trace", body ->
    let get = record ["start"; "steps"] [] body in
    Trace (configuration (get "start"), listed step (get "steps"))
  | "closed", body -> Closed (configurations body)
  | "downward", body -> Downward (configurations body)
  | "invariants", body ->
    let body = match body with Json.List [v; w; b] -> Json.List [v; w; b; Json.List []] | body -> body in
    let get = record ["views"; "vectors"; "basis"; "trees"] ["views"; "trees"] body in
    let trees = match body with
      | Json.Object fields when not (List.mem_assoc "trees" fields) -> []
      | _ -> listed (listed branch) (get "trees") in
    let block = three natural (listed natural) (maybe (listed natural)) in
    Invariants (maybe (listed block) (get "views"), listed weights (get "vectors"), listed configuration (get "basis"), trees)
  | "through", body ->
    let get = record ["kept"; "merged"; "proof"] [] body in
    Through (listed natural (get "kept"), listed (two (maybe natural) (listed natural)) (get "merged"), evidence (get "proof"))
  | "refutation", body ->
    let get = record ["traps"; "cases"] [] body in
    Refutation (listed (listed natural) (get "traps"), listed case (get "cases"))
  | "reduced", _ -> unreadable "evidence of the kind `reduced` (structural reductions of nets) is not covered by this checker"
  | "localised", _ -> unreadable "evidence of the kind `localised` is about programs and not covered by this checker"
  | other, _ -> unreadable "this is no certificate: `%s` is no evidence" other
let family value =
  let get = record ["shared"; "threads"; "any"] [] value in
  { at = natural (get "shared"); threads = listed (two natural natural) (get "threads"); any = listed natural (get "any") }
let target value =
  let get = record ["name"; "property"; "verdict"; "evidence"] [] value in
  ignore (text (get "name"));
  let property = match choice (get "property") with
    | "covers", configs -> Covers (listed configuration configs)
    | "satisfies", body -> Satisfies (condition body)
    | "deadlock", Json.Null -> Deadlock
    | _ -> invalid "systems have configurations as targets" in
  let is_unsafe = match choice (get "verdict") with
    | "safe", Json.Null -> false
    | "unsafe", Json.Null -> true
    | _ -> no_part "`safe` or `unsafe`" in
  { property; is_unsafe; by = natural (get "evidence") }
let cutoff value =
  let get = record ["threads"; "runs"; "reachable"; "rest"; "except"; "needed"] ["needed"] value in
  let needed value =
    let get = record ["state"; "configurations"] [] value in
    (two natural natural (get "state"), listed configuration (get "configurations")) in
  let triples key = listed (three natural natural natural) (get key) in
  { most = natural (get "threads"); runs = listed (three (maybe natural) (maybe natural) configuration) (get "runs");
    reachable = triples "reachable"; rest = natural (get "rest"); except = triples "except"; needed = maybe needed (get "needed") }
let state_name = function Json.String name -> name | _ -> "" (* a state of a program: no name of a system is empty *)

let read bytes =
  let keys = ["format"; "version"; "tool"; "input"; "problem"; "states"; "targets"; "undecided"; "evidence"; "cutoff"] in
  let document = Json.parse bytes in
  (match document with
   | Json.Object fields ->
     if List.assoc_opt "format" fields <> Some (Json.String "throng-certificate") then unreadable "this is no certificate: its format is not `throng-certificate`";
     (match List.assoc_opt "version" fields with
      | Some (Json.Number (1 | 2)) -> ()
      | Some (Json.Number v) -> unreadable "the certificate has version %d, but this checker knows versions 1 to %d" v version
      | _ -> no_part "a version")
   | _ -> ());
  let get = record keys ["undecided"; "cutoff"] document in
  if text (get "format") <> "throng-certificate" || not (List.mem (natural (get "version")) [1; version]) then unreadable "no certificate of versions 1 to %d" version;
  ignore (text (get "tool"));
  let input = record ["name"; "kind"; "hash"] [] (get "input") in
  ignore (text (input "name"));
  let problem = record ["initial"; "bound"; "slot_reuse"; "init_free"] [] (get "problem") in
  ignore (flag (problem "slot_reuse"));
  let bound = match choice (problem "bound") with
    | "any", Json.Null -> Any
    | "threads", n -> Threads (natural n)
    | "tokens", n -> Tokens (natural n)
    | _ -> no_part "a bound" in
  let kind = text (input "kind") in
  let families = match choice (problem "initial") with
    | "families", families -> listed family families
    | _ -> if List.mem kind ["bp"; "nbp"] then invalid "the certificate is about a `%s` input" kind else invalid "systems start in families" in
  let states = record ["shared"; "local"] [] (get "states") in
  let undecided = match get "undecided" with Json.Null -> [] | value -> listed text value in
  { kind; hash = text (input "hash"); families; bound; init_free = flag (problem "init_free");
    shared_names = Array.of_list (listed state_name (states "shared")); local_names = Array.of_list (listed state_name (states "local"));
    targets = listed target (get "targets"); undecided = List.length undecided;
    evidence = Array.of_list (listed evidence (get "evidence")); cutoff = maybe cutoff (get "cutoff") }

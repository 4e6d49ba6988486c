(* Readers of systems and nets: what has to be trusted about an input. States are numbered from 0 in the order of the input. *)
open Fault

type names = Numbers of int | Names of string array * (string, int) Hashtbl.t
type bag = (int * int) list  (* local state, how many; sorted, none twice, none 0 *)
type config = int * bag
type rule = { src : int; dst : int; take : bag; put : bag; spawn : bag; moves : (int * int option list) list }
type family = config * int list  (* exactly these threads, and any number of further ones in these states; sorted *)
type target = { name : string; bad : config list }
type t = {
  shared : names; local : names; rules : rule list; is_net : bool; initial : family list; targets : target list;
  transitions : (string, bag) Hashtbl.t  (* what those of a net in PNML take, by id *);
  complements : (int * int) list  (* pairs of places with one token together *) }

(* ---- bags, names ---- *)
let bag entries : bag =
  let table = Hashtbl.create 8 in
  List.iter (fun (l, n) -> Hashtbl.replace table l (n + Option.value ~default:0 (Hashtbl.find_opt table l))) entries;
  List.sort compare (Hashtbl.fold (fun l n found -> if n > 0 then (l, n) :: found else found) table [])
let each locals = bag (List.map (fun l -> (l, 1)) locals)
let size (b : bag) = List.fold_left (fun n (_, m) -> n + m) 0 b

let names_of list =
  let table = Hashtbl.create 64 in
  List.iteri (fun i name -> if Hashtbl.mem table name then unreadable "`%s` is declared twice" name else Hashtbl.add table name i) list;
  Names (Array.of_list list, table)
let name_of names i = match names with Numbers _ -> string_of_int i | Names (list, _) -> list.(i)
let count_of = function Numbers n -> n | Names (list, _) -> Array.length list
let is_number word = word <> "" && String.for_all (fun c -> c >= '0' && c <= '9') word
let number word = match int_of_string_opt ("0u" ^ word) with Some n when is_number word && n >= 0 -> n | _ -> unreadable "`%s` is not a number" word
(* The state that a certificate calls so: numbers have one spelling. *)
let find names word = match names with
  | Numbers n -> if is_number word && String.length word < 18 && string_of_int (number word) = word && number word < n then Some (number word) else None
  | Names (_, table) -> Hashtbl.find_opt table word

(* ---- lines of words ---- *)
let is_blank c = c = ' ' || c = '\t' || c = '\r' || c = '\n' || c = '\012' || c = '\011'
let without_comment line = match String.index_opt line '#' with Some i -> String.sub line 0 i | None -> line
let is_arrow word = word = "->" || word = "+>" || word = "~>"
let arrow_at line i = i + 1 < String.length line && line.[i + 1] = '>' && (match line.[i] with '-' | '+' | '~' -> true | _ -> false)
(* Arrows are words of their own. *)
let words line =
  let n = String.length line in
  let found = ref [] and from = ref 0 in
  let push upto = if !from < upto then found := String.sub line !from (upto - !from) :: !found in
  let rec go i =
    if i >= n then push n
    else if is_blank line.[i] then (push i; from := i + 1; go (i + 1))
    else if arrow_at line i then (push i; found := String.sub line i 2 :: !found; from := i + 2; go (i + 2))
    else go (i + 1) in
  go 0;
  List.rev !found
let lines text =
  let add found line = match words (without_comment line) with [] -> found | line -> line :: found in
  List.rev (List.fold_left add [] (String.split_on_char '\n' text))

(* ---- configurations: `s|l,l/u,u` ---- *)
exception Out_of_range
let state names word = match names with
  | Numbers n ->
    if n = 1 && word = "" then 0
    else let i = if String.length word > 18 then unreadable "`%s` is not a state" word else number word in
      if i < n then i else raise Out_of_range
  | Names (_, table) -> (match Hashtbl.find_opt table word with Some i -> i | None -> unreadable "there is no state `%s`" word)
let configuration shared local text =
  let letters = match shared, local with Numbers _, Numbers _ -> true | _ -> false in
  let is_bar c = c = '|' || (letters && c = 'B') and is_slash c = c = '/' || (letters && c = 'U') in
  let n = String.length text in
  let rec search is i = if i >= n then None else if is text.[i] then Some i else search is (i + 1) in
  let first = match search (fun c -> is_bar c || is_slash c) 0 with Some i -> i | None -> unreadable "`%s` is not a configuration" text in
  let slash = search is_slash first in
  let part from upto = if from < upto then String.sub text from (upto - from) else "" in
  let pieces part =
    if String.trim part = "" then []
    else List.map (fun piece -> match String.trim piece with "" -> unreadable "a local state is missing: %s" text | word -> state local word)
           (String.split_on_char ',' part) in
  let exactly = pieces (part (first + 1) (Option.value ~default:n slash)) in
  let any = match slash with
    | None -> []
    | Some i -> (match pieces (part (i + 1) n) with [] -> unreadable "nothing follows `/`: %s" text | any -> any) in
  let head = String.trim (part 0 first) in
  if head = "" && letters then unreadable "the shared state is missing: %s" text;
  (((state shared head, each exactly), List.sort_uniq compare any) : family)
let configuration shared local text =
  try configuration shared local text with Out_of_range -> unreadable "a state is out of range: %s" text
let read_initial shared local text : family =
  match String.trim text with
  | "unbounded" -> ((0, []), [0])
  | "single" -> ((0, [(0, 1)]), [])
  | _ -> configuration shared local text
let one_blank text = String.concat " " (List.filter (( <> ) "") (String.split_on_char ' ' (String.map (fun c -> if is_blank c then ' ' else c) text)))
let read_target shared local text =
  match configuration shared local text with
  | config, [] -> { name = one_blank text; bad = [config] }
  | _ -> unreadable "a target cannot ask for any number of threads: %s" text
(* A number that is no state cannot be reached: such a target is empty. *)
let in_range shared local text =
  let digits = ref [] and now = ref "" in
  String.iter (fun c -> if c >= '0' && c <= '9' then now := !now ^ String.make 1 c else (digits := !now :: !digits; now := "")) (text ^ " ");
  match shared, local, List.filter (( <> ) "") (List.rev !digits) with
  | Numbers s, Numbers l, first :: others -> number first < s && List.for_all (fun d -> number d < l) others
  | _ -> true
let read_prop shared local text =
  let targets = List.filter_map (fun line ->
    let line = without_comment line in
    if String.trim line = "" then None
    else if in_range shared local line then Some (read_target shared local line)
    else Some { name = one_blank line; bad = [] }) (String.split_on_char '\n' text) in
  if targets = [] then unreadable "this property file names no target" else targets

(* ---- .tts, .ttd, .ntts ---- *)
let rec move_list local = function
  | p :: "~>" :: q :: more -> (local p, local q) :: move_list local more
  | [] -> []
  | _ -> unreadable "expected `p ~> q`"
let edge shared local line =
  let group moves = List.map (fun p -> (p, List.filter_map (fun (q, t) -> if q = p then Some (Some t) else None) moves)) (List.sort_uniq compare (List.map fst moves)) in
  match line with
  | s :: l :: arrow :: t :: m :: more when is_arrow arrow ->
    if (s = "*") <> (t = "*") then unreadable "`*` must stand on both sides or on none";
    if more <> [] && arrow <> "->" then unreadable "only `->` can move other threads along";
    let every = s = "*" in
    (match shared with Numbers _ when every -> unreadable "`*` is for named states" | _ -> ());
    let l = state local l and m = state local m and moves = group (move_list (state local) more) in
    let from = if every then List.init (count_of shared) (fun i -> (i, i)) else [(state shared s, state shared t)] in
    List.filter_map (fun (src, dst) ->
      let rule = { src; dst; take = [(l, 1)]; put = [(m, 1)]; spawn = []; moves } in
      match arrow with
      | "+>" -> Some { rule with put = rule.take; spawn = rule.put }
      | _ when (src, l) = (dst, m) && moves = [] -> None (* changes nothing, and is no step *)
      | "->" -> Some rule
      | _ -> Some { rule with take = []; put = []; moves = (if l = m then [] else [(l, [Some m])]) }) from
  | _ -> unreadable "this is no edge: %s" (String.concat " " line)
let edge shared local line = try edge shared local line with Out_of_range -> unreadable "a state is out of range: %s" (String.concat " " line)
let is_edge line = List.exists is_arrow line

let read_tts text =
  let rec header found lines = match found, lines with
    | [l; s], _ -> (s, l, lines)
    | _, [] -> unreadable "the file must begin with two numbers"
    | _, [] :: more -> header found more
    | _, (word :: line) :: more -> if is_number word && number word > 0 then header (number word :: found) (line :: more) else unreadable "the file must begin with two numbers" in
  let s, l, lines = header [] (lines text) in
  let shared = Numbers s and local = Numbers l in
  let edges, others = List.partition is_edge (List.filter (( <> ) []) lines) in
  { shared; local; rules = List.concat_map (edge shared local) edges; is_net = false; initial = [((0, []), [0])];
    targets = List.map (fun line -> read_target shared local (String.concat " " line)) others; transitions = Hashtbl.create 1; complements = [] }

let read_ntts text =
  let lines = lines text in
  let about what = List.filter_map (function first :: rest when first = what && not (is_edge (first :: rest)) -> Some rest | _ -> None) lines in
  List.iter (fun line -> if not (is_edge line || List.mem (List.hd line) ["shared"; "local"; "init"; "target"; "means"]) then unreadable "unexpected `%s`" (List.hd line)) lines;
  let declared what = match List.concat (about what) with [] -> unreadable "no %s states are declared" what | names -> names_of names in
  let shared = declared "shared" and local = declared "local" in
  let text_of = String.concat " " in
  { shared; local; rules = List.concat_map (edge shared local) (List.filter is_edge lines); is_net = false;
    initial = (match about "init" with [] -> [((0, []), [0])] | inits -> List.map (fun l -> read_initial shared local (text_of l)) inits);
    targets = List.map (fun l -> read_target shared local (text_of l)) (about "target"); transitions = Hashtbl.create 1; complements = [] }

(* ---- .spec ---- *)
type token = Name of string | Number of int | Section of string | Symbol of string | End
type condition = { var : int; low : int; high : int option }
let most_tokens = 1 lsl 30
let most_cases = 1000

let tokens text =
  let n = String.length text in
  let is_letter c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c = '_' in
  let is_digit c = c >= '0' && c <= '9' in
  let rec upto good i = if i < n && good text.[i] then upto good (i + 1) else i in
  let rec go i found =
    if i >= n then List.rev ((End, n) :: found)
    else
      let token k make = go k ((make (String.sub text i (k - i)), i) :: found) in
      match text.[i] with
      | c when is_blank c -> go (i + 1) found
      | '#' -> go (upto (( <> ) '\n') i) found
      | c when is_letter c ->
        let rec brackets k = if k + 1 < n && String.sub text k 2 = "[]" then brackets (k + 2) else k in
        token (brackets (upto (fun c -> is_letter c || is_digit c || c = '.' || c = '$') i))
          (fun w -> if List.mem w ["vars"; "rules"; "init"; "target"; "invariants"] then Section w else Name w)
      | c when is_digit c ->
        token (upto is_digit i) (fun w -> let m = if String.length w > 12 then most_tokens + 1 else number w in
          if m > most_tokens then unreadable "this number of tokens is too large: %s" w else Number m)
      | _ when i + 1 < n && List.mem (String.sub text i 2) ["->"; ">="] -> token (i + 2) (fun w -> Symbol w)
      | c when String.contains "=',;+-[]" c -> token (i + 1) (fun w -> Symbol w)
      | c -> unreadable "`%c` has no meaning in a net" c in
  go 0 []

(* Every way to choose one of each list. *)
let product lists =
  List.fold_right (fun options rest -> List.concat_map (fun o -> List.map (fun r -> o :: r) rest) options) lists [[]]
let too_many cases = unreadable "these intervals stand for more than %d cases" cases
(* Every way to fix the variables with an upper bound: variable, tokens, whether there must be exactly so many. *)
let cases conditions =
  let width c = match c.high with None -> 1 | Some high -> max 0 (high + 1 - c.low) in
  let all = List.fold_left (fun p c -> min (p * width c) (most_cases + 1)) 1 conditions in
  if all > most_cases then too_many most_cases;
  product (List.map (fun c -> match c.high with
    | None -> [(c.var, c.low, false)]
    | Some high -> List.init (max 0 (high + 1 - c.low)) (fun i -> (c.var, c.low + i, true))) conditions)
(* Every way to take [missing] tokens from places. *)
let rec compositions places missing = match places with
  | [] -> []
  | [y] -> [[(y, missing)]]
  | y :: more -> List.concat (List.init (missing + 1) (fun n -> List.map (fun c -> (y, n) :: c) (compositions more (missing - n))))

(* A variable that is always 0 or 1 and tested for 0 has a complement, which is 1 where it is 0. *)
let most_growth = 4

(* The value of a variable after a rule, if the rule fires; an error if that may not be 0 or 1. *)
let after (guard, updates) x old =
  let excluded c = c.var = x && (old < c.low || match c.high with Some high -> old > high | None -> false) in
  if List.exists (fun (y, sum, _) -> y <> x && List.mem x sum) updates then Error ()
  else if List.exists excluded guard then Ok None
  else match List.filter (fun (y, _, _) -> y = x) updates with
    | [] -> Ok (Some old)
    | [(_, [], n)] -> if n = 0 || n = 1 then Ok (Some n) else Error ()
    | [(_, [y], n)] when y = x -> if old + n < 0 then Ok None else if old + n <= 1 then Ok (Some (old + n)) else Error ()
    | _ -> Error ()

let with_complement x not_x (guard, updates) =
  let untouched = not (List.exists (fun (y, _, _) -> y = x) updates) && not (List.exists (fun c -> c.var = x && c.high <> None) guard) in
  if untouched then [(guard, updates)]
  else
    let found = List.filter_map (fun old ->
      match after (guard, updates) x old with
      | Ok (Some now) ->
        let guard = { var = (if old = 1 then x else not_x); low = 1; high = None } :: List.filter (fun c -> c.var <> x) guard in
        let updates = List.filter (fun (y, _, _) -> y <> x) updates in
        let change y n = (y, [y], n) in
        Some (List.sort compare guard, if now = old then updates else updates @ [change x (now - old); change not_x (old - now)])
      | _ -> None) [0; 1] in
    if found = [] then [(guard, updates)] else found

let complemented init_free vars written init =
  let most = most_growth * List.length written in
  let starts x = match List.find_opt (fun c -> c.var = x) init with
    | Some c -> if c.high = Some c.low && c.low <= 1 then Some c.low else None
    | None -> if init_free then None else Some 0 in
  let tested x = List.exists (fun (guard, _) -> List.exists (fun c -> c.var = x && c.high = Some 0) guard) written in
  let stays x = List.for_all (fun rule -> List.for_all (fun old -> Result.is_ok (after rule x old)) [0; 1]) written in
  let open_ = init_free && List.length init < List.length vars || List.exists (fun c -> c.high = None) init in
  let wanted = List.filter (fun x -> open_ && tested x && starts x <> None && stays x) (List.init (List.length vars) Fun.id) in
  List.fold_left (fun (names, written, init, pairs) x ->
    let not_x = List.length names in
    let rec free name = if List.mem name names then free (name ^ "_") else name in
    let rules = List.concat_map (with_complement x not_x) written in
    if List.length rules > most then (names, written, init, pairs)
    else
      let tokens = 1 - Option.get (starts x) in
      (names @ [free ("not_" ^ List.nth names x)], rules, init @ [{ var = not_x; low = tokens; high = Some tokens }], pairs @ [(x, not_x)]))
    (vars, written, init, []) wanted

(* The same start, with a token for each complement that is missing. *)
let complete complements ((s, b), any) =
  let count x = Option.value ~default:0 (List.assoc_opt x b) in
  let b = List.fold_left (fun b (x, not_x) ->
    match count x + count not_x with
    | n when n > 1 || List.mem x any || List.mem not_x any -> unreadable "a variable that is 0 or 1 starts otherwise"
    | 0 -> (not_x, 1) :: b
    | _ -> b) b complements in
  ((s, bag b), any)

let read_spec init_free text =
  let rest = ref (tokens text) in
  let peek () = fst (List.hd !rest) and place () = snd (List.hd !rest) in
  let advance () = match !rest with _ :: (_ :: _ as more) -> rest := more | _ -> () in
  let accept token = if peek () = token then (advance (); true) else false in
  let unexpected () = unreadable "unexpected text in the net at byte %d" (place ()) in
  let expect token = if not (accept token) then unexpected () in
  let at_section () = match peek () with Section _ | End -> true | _ -> false in
  expect (Section "vars");
  let rec names found = match peek () with Name w -> advance (); names (w :: found) | _ -> List.rev found in
  let vars = names [] in
  let table = match names_of vars with Names (_, table) -> table | Numbers _ -> assert false in
  let var () = match peek () with
    | Name w -> advance (); (match Hashtbl.find_opt table w with Some i -> i | None -> unreadable "variable `%s` is not declared" w)
    | _ -> unexpected () in
  let number () = match peek () with Number n -> advance (); n | _ -> unexpected () in
  let condition () =
    let var = var () in
    if accept (Symbol ">=") then { var; low = number (); high = None }
    else if accept (Symbol "=") then let n = number () in { var; low = n; high = Some n }
    else begin
      expect (Name "in"); expect (Symbol "[");
      let low = number () in
      expect (Symbol ",");
      let high = number () in
      expect (Symbol "]");
      { var; low; high = Some high }
    end in
  let conjunction of_rule =
    let rec go found =
      let found = if of_rule && accept (Name "true") then found else condition () :: found in
      if accept (Symbol ",") then go found else List.sort compare found in
    let found = go [] in
    let vars = List.map (fun c -> c.var) found in
    if List.length (List.sort_uniq compare vars) < List.length vars then unreadable "there is a second condition on a variable";
    found in
  let update () =
    let x = var () in
    expect (Symbol "'"); expect (Symbol "=");
    match peek () with
    | Number n -> advance (); (x, [], n)
    | _ ->
      let rec go sum =
        if accept (Symbol "+") then (match peek () with Name _ -> go (var () :: sum) | _ -> (x, List.rev sum, number ()))
        else if accept (Symbol "-") then (x, List.rev sum, - (number ()))
        else (x, List.rev sum, 0) in
      go [var ()] in
  let rule () =
    let guard = if peek () = Symbol "->" then [] else conjunction true in
    expect (Symbol "->");
    let rec updates found =
      if accept (Symbol ";") then List.rev found
      else
        let found = update () :: found in
        if peek () <> Symbol ";" then expect (Symbol ",");
        updates found in
    (guard, updates []) in
  expect (Section "rules");
  let rec until_section read found = if at_section () then List.rev found else until_section read (read () :: found) in
  let written = until_section rule [] in
  expect (Section "init");
  let init = if at_section () then unexpected () else conjunction false in
  if not (at_section ()) then unexpected ();
  let goals = if accept (Section "target") then begin
      let named () =
        let from = place () in
        let found = conjunction false in
        (one_blank (String.concat " " (List.map without_comment (String.split_on_char '\n' (String.sub text from (place () - from))))), found) in
      match until_section named [] with [] -> unexpected () | found -> found
    end else [] in
  if accept (Section "invariants") then while not (at_section ()) do advance () done;
  if peek () <> End then unexpected ();
  let vars, written, init, complements = complemented init_free vars written init in
  let lowered (guard, updates) =
    let assigned = List.map (fun (x, _, _) -> x) updates in
    if List.length (List.sort_uniq compare assigned) < List.length assigned then unreadable "a variable is assigned twice in one rule";
    let flows = List.concat_map (fun (x, sum, _) -> List.map (fun y -> (y, x)) sum) updates in
    if List.length (List.sort_uniq compare (List.map fst flows)) < List.length flows then unreadable "tokens can be moved, not copied";
    let moved = List.filter_map (fun (y, x) -> if y = x then None else Some (y, Some x)) flows
                @ List.filter_map (fun x -> if List.mem_assoc x flows then None else Some (x, None)) assigned in
    let destination y = match List.assoc_opt y moved with Some to_ -> to_ | None -> Some y in
    let step exact taken =
      let put = List.map (fun (x, _, c) -> (x, c)) updates
                @ List.filter_map (fun (y, n) -> Option.map (fun x -> (x, n)) (destination y)) taken in
      let take = bag taken and put = bag put in
      let moves = List.filter_map (fun (y, to_) -> if List.mem y exact then None else Some (y, [to_])) moved in
      if take = put && moves = [] then []
      else [{ src = 0; dst = 0; take; put; spawn = []; moves = moves @ List.map (fun x -> (x, [])) exact }] in
    List.concat_map (fun case ->
      let exact = List.filter_map (fun (x, _, exactly) -> if exactly then Some x else None) case in
      let taken = List.map (fun (x, n, _) -> (x, n)) case in
      let have y = Option.value ~default:0 (List.assoc_opt y taken) in
      let short = List.filter_map (fun (_, sum, c) ->
        let missing = - c - List.fold_left (fun n y -> n + have y) 0 sum in
        if c < 0 && missing > 0 then Some (compositions (List.filter (fun y -> not (List.mem y exact)) sum) missing) else None) updates in
      let ways = List.fold_left (fun p c -> min (p * List.length c) (most_cases + 1)) 1 short in
      if ways > most_cases then too_many most_cases;
      List.concat_map (fun choice -> step exact (taken @ List.concat choice)) (product short)) (cases guard) in
  let rules = List.concat_map lowered written in
  (* A target with an upper bound: a rule that puts one token on a place of its own, once, when the marking is so. *)
  let fresh = ref [] in
  let goal_place () =
    let taken w = List.mem w vars || List.mem w !fresh in
    let rec free i = let w = if i = 0 then "goal" else Printf.sprintf "goal%d" i in if taken w then free (i + 1) else w in
    fresh := !fresh @ [free 0];
    List.length vars + List.length !fresh - 1 in
  let extra = ref [] in
  let targets = List.map (fun (name, conditions) ->
    if List.for_all (fun c -> c.high = None) conditions then { name; bad = [(0, bag (List.map (fun c -> (c.var, c.low)) conditions))] }
    else begin
      let goal = goal_place () in
      List.iter (fun case ->
        let take = bag (List.map (fun (x, n, _) -> (x, n)) case) in
        let exact = List.filter_map (fun (x, _, e) -> if e then Some x else None) case in
        extra := { src = 0; dst = 0; take; put = bag ((goal, 1) :: take); spawn = []; moves = List.map (fun x -> (x, [])) (exact @ [goal]) } :: !extra)
        (cases conditions);
      { name; bad = [(0, [(goal, 1)])] }
    end) goals in
  let mentioned = List.map (fun c -> c.var) init in
  let any = List.filter_map (fun c -> if c.high = None then Some c.var else None) init
            @ (if init_free then List.filter (fun x -> not (List.mem x mentioned)) (List.init (List.length vars) Fun.id) else []) in
  let initial = List.map (fun case -> ((0, bag (List.map (fun (x, n, _) -> (x, n)) case)), List.sort_uniq compare any)) (cases init) in
  if initial = [] then unreadable "there is no initial marking";
  { shared = Numbers 1; local = names_of (vars @ !fresh); rules = rules @ List.rev !extra; is_net = true; initial; targets; complements; transitions = Hashtbl.create 1 }

(* ---- .pnml ---- *)
type node = Place of int | Transition of int | Reference of string
let read_pnml text =
  let open Xml in
  let rec visible e = { e with children = List.map visible (List.filter (fun c -> not (List.mem c.name ["toolspecific"; "graphics"; "name"])) e.children) } in
  let root = visible (Xml.parse text) in
  let net = match root.name, List.filter (fun c -> c.name = "net") root.children with
    | "pnml", [net] -> net
    | _ -> unreadable "there must be one net" in
  let kind = String.lowercase_ascii (Option.value ~default:"ptnet" (attribute net "type")) in
  let ends known =
    let n = String.length kind and k = String.length known in
    let alphanumeric c = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') in
    n >= k && String.sub kind (n - k) k = known && (n = k || not (alphanumeric kind.[n - k - 1])) in
  if not (List.exists ends ["ptnet"; "pt-net"; "ptnetb"; "p/t net"; "p/t"; "pntd/ptnet"]) then unreadable "nets of type `%s` are not supported" kind;
  let places = ref [] and transitions = ref [] and arcs = ref [] in
  let count = Hashtbl.create 2 in
  let next which = let n = Option.value ~default:0 (Hashtbl.find_opt count which) in Hashtbl.replace count which (n + 1); n in
  let nodes = Hashtbl.create 64 in
  let refuse e = if not (List.mem e.name ["description"; "text"; "arcpath"; "orientation"; "labels"]) then unreadable "`%s` is not supported" e.name in
  let refuse_inside e known =
    List.iter (fun c -> if not (List.mem c.name known) then refuse c
                else if List.length (List.filter (fun o -> o.name = c.name) e.children) > 1 then unreadable "there is a second `%s`" c.name) e.children;
    let harmless = ["capacity", "0"; "urgent", "false"; "invariant", "< inf"; "player", "0"] in
    let meaningful = ["initialMarking"; "marking"; "tokens"; "weight"; "inscription"; "multiplicity"; "priority"] @ List.map fst harmless in
    List.iter (fun (a, v) -> if List.mem a meaningful && not (List.mem (a, v) harmless) then unreadable "the attribute `%s` is not supported" a) e.attributes in
  let rec collect page = List.iter (fun e ->
    let add node =
      let id = match attribute e "id" with Some id -> id | None -> unreadable "a %s has no id" e.name in
      if Hashtbl.mem nodes id then unreadable "id `%s` is used twice" id;
      Hashtbl.add nodes id node in
    match e.name with
    | "page" -> collect e
    | "arc" -> refuse_inside e ["inscription"; "type"; "arctype"]; arcs := e :: !arcs
    | "place" -> refuse_inside e ["initialMarking"]; add (Place (next `Place)); places := e :: !places
    | "transition" -> refuse_inside e []; add (Transition (next `Transition)); transitions := e :: !transitions
    | "referencePlace" | "referenceTransition" -> add (Reference (Option.value ~default:"" (attribute e "ref")))
    | _ -> refuse e) page.children in
  collect net;
  let tokens e name default = match child e name with
    | None -> default
    | Some inner ->
      (match inner.children with [] -> () | [c] when c.name = "text" -> () | _ -> unreadable "`%s` is more than a number" name);
      let written = String.trim (match child inner "text" with Some t -> t.text | None -> inner.text) in
      if is_number written && String.length written < 12 && number written <= most_tokens then number written
      else unreadable "`%s` is not a number of tokens" written in
  let rec node depth id = match Hashtbl.find_opt nodes id with
    | Some (Reference to_) when depth <= Hashtbl.length nodes -> node (depth + 1) to_
    | Some (Reference _) | None -> unreadable "there is no node `%s`" id
    | Some found -> found in
  let take = Array.make (List.length !transitions) [] and put = Array.make (List.length !transitions) [] in
  List.iter (fun arc ->
    let written e = match child e "text" with Some t -> String.trim t.text | None -> Option.value ~default:(String.trim e.text) (attribute e "value") in
    let kinds = List.filter_map (fun k -> Option.map written (child arc k)) ["type"; "arctype"]
                @ List.filter_map (attribute arc) ["type"; "arctype"] in
    List.iter (fun k -> if k <> "normal" then unreadable "arcs of type `%s` are not supported" k) kinds;
    let weight = tokens arc "inscription" 1 in
    if weight = 0 then unreadable "the weight of an arc must be at least 1";
    let end_of which = match attribute arc which with Some id -> node 0 id | None -> unreadable "an arc has no %s" which in
    match end_of "source", end_of "target" with
    | Place p, Transition t -> take.(t) <- (p, weight) :: take.(t)
    | Transition t, Place p -> put.(t) <- (p, weight) :: put.(t)
    | _ -> unreadable "an arc must join a place and a transition") !arcs;
  let places = List.rev !places in
  let id e = Option.get (attribute e "id") in
  let rules = List.mapi (fun t _ -> { src = 0; dst = 0; take = bag take.(t); put = bag put.(t); spawn = []; moves = [] }) !transitions in
  let by_id = Hashtbl.create 64 in
  List.iteri (fun t e -> Hashtbl.replace by_id (id e) (bag take.(t))) (List.rev !transitions);
  { shared = Numbers 1; local = names_of (List.map id places); rules; is_net = true; transitions = by_id;
    initial = [((0, bag (List.mapi (fun i e -> (i, tokens e "initialMarking" 0)) places)), [])]; targets = []; complements = [] }

(* ---- any of them ---- *)
let without_mark text = (* of the order of bytes *)
  if String.length text >= 3 && String.sub text 0 3 = "\xef\xbb\xbf" then String.sub text 3 (String.length text - 3) else text
let read kind init_free text =
  let text = without_mark text in
  match kind with
  | "tts" -> read_tts text
  | "ntts" -> read_ntts text
  | "spec" -> read_spec init_free text
  | "pnml" -> read_pnml text
  | "bp" | "nbp" -> unreadable "this checker does not read programs; `throng translate --to tts` writes their table"
  | _ -> unreadable "`.%s` is not an extension I know: known are .tts .ttd .ntts .spec .pnml" kind

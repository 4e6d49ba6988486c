(* From inputs and certificates to the types of the proved checker, and its verdicts. *)
open Fault
open Encode
module C = Certificate
module K = Checker

(* ---- inputs ---- *)
let counted ((s, b) : Input.config) : K.counted = (state s, bag b)
let rule (r : Input.rule) : K.rule =
  let moves = List.fold_left (fun m (p, os) -> K.PM.add (state p) (List.map (Option.map state) os) m) K.PM.empty r.moves in
  { src = state r.src; dst = state r.dst; take = bag r.take; put = bag r.put; spawn = bag r.spawn; moves }
let system (input : Input.t) (families : Input.family list) : K.system =
  { rules = C.map rule input.rules;
    families = C.map (fun ((s, b), any) -> { K.at_shared = state s; fixed = bag b; any = List.map state any }) families }

(* ---- certificates: places in the lists of names become states of the input ---- *)
type decoder = { input : Input.t; document : C.t; shared : int array; local : int array }
let unknown = -1
let decoder input (document : C.t) =
  let all names = Array.map (fun word -> Option.value ~default:unknown (Input.find names word)) in
  { input; document; shared = all input.Input.shared document.shared_names; local = all input.Input.local document.local_names }
let look what names found i =
  if i >= Array.length found then invalid "no %s state number %d" what i
  else if found.(i) = unknown then invalid "the input has no %s state `%s`" what names.(i)
  else found.(i)
let shared d = look "shared" d.document.shared_names d.shared
let local d = look "local" d.document.local_names d.local
let most_threads = 1 lsl 31
(* The threads of a configuration, and the states of which it has any number. *)
let threads d (entries : (int * C.count) list) =
  let exactly = List.filter_map (function (l, C.Exactly n) -> if n = 0 then invalid "a count is 0" else Some (local d l, n) | _ -> None) entries in
  let any = List.filter_map (function (l, C.Any_number) -> Some (local d l) | _ -> None) entries in
  if List.fold_left (fun sum (_, n) -> sum + n) 0 exactly >= most_threads then invalid "a configuration has too many threads";
  (Input.bag exactly, List.sort_uniq compare any)
let config d ((s, entries) : C.configuration) : Input.config = match threads d entries with
  | b, [] -> (shared d s, b)
  | _ -> invalid "`any` counts only in downward sets"
let configs d = C.map (fun c -> counted (config d c))
(* Members of closed sets are lists, in the order of the keys of a map: lowest bits first. *)
let rec order a b =
  if a = b then 0
  else match a land 1, b land 1 with
    | 0, 1 -> -1
    | 1, 0 -> 1
    | 1, 1 when a = 1 -> -1
    | 1, 1 when b = 1 -> 1
    | _ -> order (a lsr 1) (b lsr 1)
let packed d = C.map (fun c ->
  let s, b = config d c in
  (state s, List.map (fun (l, n) -> (state l, natural n)) (List.sort (fun (a, _) (b, _) -> order (a + 1) (b + 1)) b)))

(* The sides of blocks that a state may be there with decide its class: states that face the same sides have the same partners. *)
let group d blocks : K.partners =
  let facing = Hashtbl.create 64 and sides = Hashtbl.create 64 in
  let add i here there =
    Hashtbl.replace sides i (List.fold_left (fun s l -> K.PS.add (state l) s) K.PS.empty there);
    List.iter (fun a -> Hashtbl.replace facing a (i :: Option.value ~default:[] (Hashtbl.find_opt facing a))) here in
  List.iteri (fun i (left, right) ->
    let left = List.map (local d) left in
    let right = match right with None -> left | Some right -> List.map (local d) right in
    add (2 * i) left right;
    add ((2 * i) + 1) right left) blocks;
  let known = Hashtbl.create 64 in
  Hashtbl.fold (fun a faced (g : K.partners) ->
    let next = Hashtbl.length known in
    match Hashtbl.find_opt known faced with
    | Some c -> { g with K.class_of = K.PM.add (state a) (state c) g.class_of }
    | None ->
      Hashtbl.replace known faced next;
      let row = List.fold_left (fun s i -> K.PS.union (Hashtbl.find sides i) s) K.PS.empty faced in
      { K.class_of = K.PM.add (state a) (state next) g.class_of; rows = K.PM.add (state next) row g.rows })
    facing { K.class_of = K.PM.empty; rows = K.PM.empty }
let views d blocks =
  let groups = Hashtbl.create 64 in
  List.iter (fun (s, left, right) ->
    let s = shared d s in
    Hashtbl.replace groups s ((left, right) :: Option.value ~default:[] (Hashtbl.find_opt groups s))) blocks;
  Hashtbl.fold (fun s blocks views -> K.PM.add (state s) (group d blocks) views) groups K.PM.empty
let vector d (w : C.weights) : K.vector =
  let all name pairs = List.fold_left (fun m (i, n) -> K.PM.add (state (name d i)) (integer n) m) K.PM.empty pairs in
  { of_shared = all shared w.shared; of_local = all local w.local }
(* From a list, in which each node is followed by its parts. *)
let most_splits = 64
let tree d nodes : K.division =
  let rec read above = function
    | [] -> invalid "a tree lacks a part"
    | C.Leaf (w, drops) :: rest -> (K.Settled (vector d w, List.map integer drops), rest)
    | C.Divide states :: rest ->
      if above = most_splits then invalid "a tree is too deep";
      let never, rest = read (above + 1) rest in
      let entered, rest = read (above + 1) rest in
      (K.Divide (List.fold_left (fun set s -> K.PS.add (state (shared d s)) set) K.PS.empty states, never, entered), rest) in
  match read 0 nodes with
  | tree, [] -> tree
  | _ -> invalid "a tree has more nodes than parts"
let most_times = Int64.shift_left 1L 40
let group_by_shared pairs = List.fold_left (fun m (s, x) -> K.push s x m) K.PM.empty (List.rev pairs)
let proof d : C.evidence -> K.proof = function
  | Closed members -> K.Closed_ (packed d members)
  | Downward members ->
    K.Downward_ (group_by_shared (C.map (fun (s, entries) ->
      let b, any = threads d entries in
      (state (shared d s), (bag b, List.fold_left (fun set l -> K.PS.add (state l) set) K.PS.empty any))) members))
  | Invariants (None, _ :: _, _, _) | Invariants (None, _, _, _ :: _) -> invalid "vectors without views"
  | Invariants (blocks, vectors, basis, trees) ->
    let vectors = { K.of_all_runs = List.map (vector d) vectors; by_cases = C.map (tree d) trees } in
    K.Invariants_ (Option.map (views d) blocks, vectors, group_by_shared (configs d basis))
  | Refutation (traps, cases) ->
    let set trap = List.fold_left (fun s l -> K.PS.add (state (local d l)) s) K.PS.empty trap in
    let times = List.map (fun (i, n) ->
      if n < 0L || n > most_times then invalid "a comparison is used %Ld times" n else (state i, natural (Int64.to_int n))) in
    let case : C.case -> K.case = function
      | Split which -> K.Split (natural which)
      | Linear { weights; comparisons; traps } ->
        let add m (l, n) =
          let l = state (local d l) in
          if K.PM.find l m <> None then invalid "a local state has two weights" else K.PM.add l (integer n) m in
        K.Linear { weights = List.fold_left add K.PM.empty weights; compared = times comparisons; trapped = times traps } in
    let only_state = match d.document.families with f :: _ -> state (shared d f.at) | [] -> state 0 in
    K.Refutation_ { only_state; traps = List.map set traps; cases = C.map case cases }
  | Through _ -> invalid "states are passed through once"
  | Trace _ -> invalid "a trace is no proof"
let evidence d : C.evidence -> K.evidence = function
  | Trace (start, steps) ->
    K.Trace_ (counted (config d start), C.map (fun (by, c) -> (Option.map (fun l -> state (local d l)) by, counted (config d c))) steps)
  | Through (kept, merged, inner) ->
    (* What occurs in no rule is not passed through. *)
    let in_rules = Hashtbl.create 64 in
    List.iter (fun (r : Input.rule) -> Hashtbl.replace in_rules r.src (); Hashtbl.replace in_rules r.dst ()) d.input.rules;
    let alone = List.filter (fun s -> s <> unknown && not (Hashtbl.mem in_rules s)) (Array.to_list d.shared) in
    let kept = List.fold_left (fun set s -> K.PS.add (state s) set) K.PS.empty (alone @ List.map (shared d) kept) in
    let add found (m, ls) =
      let to_ = Option.map (fun m -> state (local d m)) m in
      List.fold_left (fun found l ->
        let l = state (local d l) in
        if K.PM.find l found <> None then invalid "a state is taken for two" else K.PM.add l to_ found) found ls in
    (* No path without a cycle is longer than there are shared states in rules. *)
    let longest = 1 + min (Input.count_of d.input.shared) (2 * List.length d.input.rules) in
    K.Through_ (List.fold_left add K.PM.empty merged, kept, nat longest, proof d inner)
  | other -> K.Proof_ (proof d other)
let piece d i = if i < Array.length d.document.evidence then d.document.evidence.(i) else invalid "the evidence is not there"

(* ---- verdicts ---- *)
(* The words of `throng certify`. *)
let rec kind_of : C.evidence -> string = function
  | Trace _ -> "trace"
  | Closed _ -> "closed"
  | Downward _ -> "downward"
  | Refutation _ -> "refutation"
  | Invariants (None, _, _, _) -> "upward"
  | Invariants (Some _, [], [], []) -> "views"
  | Invariants (Some _, _, [], _) -> "linear"
  | Invariants _ -> "relative"
  | Through (_, _, inner) -> kind_of inner

let families d : Input.family list =
  List.map (fun (f : C.family) ->
    let b, _ = threads d (List.map (fun (l, n) -> (l, C.Exactly n)) f.threads) in
    ((shared d f.at, b), List.sort_uniq compare (List.map (local d) f.any))) d.document.families
let bound d : K.bound = match d.document.bound with
  | Any -> K.Any
  | Threads 0 -> invalid "a bound of no threads"
  | Threads n -> if d.input.is_net then invalid "the bound is for another kind of input" else K.Threads (natural n)
  | Tokens n -> if d.input.is_net then K.Tokens (natural n) else invalid "the bound is for another kind of input"
(* What each target says is bad. *)
let condition d k : K.condition =
  let rec read : C.condition -> K.condition = function
    | At_least (terms, least) ->
      let terms = Contest.tidy (List.map (fun (l, n) -> (local d l, n)) terms) in
      if least <= Int64.succ Int64.min_int || List.exists (fun (_, n) -> n = Int64.min_int) terms then invalid "a comparison is too large";
      (match K.at_least (Contest.encoded terms) (integer least) with
       | K.At_least _ as k -> k
       | _ -> invalid "a comparison is decided without a configuration")
    | Dead -> K.Dead
    | Live -> K.Live
    | All parts -> K.join_all (List.map read parts)
    | Any_of parts -> K.join_any (List.map read parts) in
  let families = List.map (fun (f : C.family) -> shared d f.at) d.document.families in
  let states = List.concat_map (fun (r : Input.rule) -> [r.src; r.dst]) d.input.rules @ families in
  if families = [] then invalid "there is no start";
  if List.exists (( <> ) (List.hd families)) states then invalid "conditions on numbers are about nets, with one shared state";
  read k
let stated d (t : C.target) : Contest.property = match t.property with
  | C.Covers configs -> Contest.Covers (List.sort_uniq compare (List.map (config d) configs))
  | C.Satisfies k -> (match condition d k with K.All_of [] -> Contest.everything | k -> Contest.Satisfies k)
  | C.Deadlock -> Contest.Deadlock

(* Which rule of docs/formats.md a piece of evidence breaks, for people: the proved functions are asked again with less of the question. *)
let broken_proof bd (p : K.proof) (sys : K.system) =
  let stands p rules = K.check_proof bd p { sys with K.rules } [] in
  let forward = [ (p, [], "1: an initial configuration is missing"); (p, sys.rules, "2: it is not closed under steps") ] in
  let rules, last = match p with
    | K.Closed_ _ -> (forward, "3: a member is bad")
    | K.Downward_ _ -> (forward, "3: a member covers a bad configuration")
    | K.Refutation_ _ -> ([], "1 to 3: a case is left open, or does not contradict the state equation")
    | K.Invariants_ (v, vs, _) ->
      let nothing = K.PM.empty and no_vectors = { K.of_all_runs = []; by_cases = [] } in
      ([ (K.Invariants_ (v, no_vectors, nothing), [], "1: a view of an initial configuration is missing");
         (K.Invariants_ (v, no_vectors, nothing), sys.rules, "2: the views are not closed under steps");
         (K.Invariants_ (v, vs, nothing), sys.rules, "3, 4 or the cases: a vector grows");
         (p, sys.rules, "6 or 7: the basis is not closed under predecessors, or holds an initial configuration") ],
       "5: a bad configuration is not ruled out") in
  match List.find_opt (fun (p, rules, _) -> not (stands p rules)) rules with Some (_, _, why) -> why | None -> last
let broken_run bd sys start later =
  let ends = K.ends start later in
  if not (K.check_trace bd sys [start] start []) then "1: it does not start in an initial configuration"
  else if not (K.check_trace bd sys [ends] start later) then "2: a step is not possible"
  else "3: it does not end in a bad configuration"
let broken bd sys targets : K.evidence -> string = function
  | K.Trace_ (start, later) -> broken_run bd sys start later
  | K.Proof_ p -> broken_proof bd p sys
  | K.Through_ (merging, kept, longest, p) ->
    let inner = ref "1 or 2: the quotient cannot be taken" in
    let stop sys _ = inner := "3: its proof breaks rule " ^ broken_proof K.Any p sys; false in
    if bd = K.Any then ignore (K.check_quotient sys targets merging kept longest stop);
    !inner
let expect verdict bd sys targets place e =
  if K.check bd sys targets e <> verdict then invalid "evidence %d breaks rule %s" place (broken bd sys targets e)
(* About whole configurations: conditions and deadlocks. *)
let expect_whole check verdict bd sys place (e : K.evidence) =
  if check e <> verdict then match e with
    | K.Trace_ (start, later) -> invalid "evidence %d breaks rule %s" place (broken_run bd sys start later)
    | K.Proof_ (K.Closed_ _ as p) -> invalid "evidence %d breaks rule %s" place (broken_proof bd p sys)
    | _ -> invalid "evidence %d does not show it" place

(* Targets that share their evidence are checked once; cases of a refutation are those of one target. *)
let check_targets d sys =
  let bd = bound d in
  let covering = Hashtbl.create 8 and conditions = Hashtbl.create 8 in
  let push table place more = Hashtbl.replace table place (List.rev_append more (Option.value ~default:[] (Hashtbl.find_opt table place))) in
  List.iter (fun (t : C.target) ->
    let given = piece d t.by in
    let is_run = match given with C.Trace _ -> true | _ -> false in
    if is_run <> t.is_unsafe then invalid "this is no evidence for its verdict";
    let verdict = if is_run then K.Unsafe else K.Safe in
    match stated d t, given with
    | Contest.Deadlock, _ -> expect_whole (K.check_deadlock bd sys) verdict bd sys t.by (evidence d given)
    | Contest.Covers bad, (Trace _ | Refutation _) -> expect verdict bd sys (List.map counted bad) t.by (evidence d given)
    | Contest.Covers bad, _ -> push covering t.by (List.map counted bad)
    | Contest.Satisfies k, Closed _ -> push conditions t.by [k]
    | Contest.Satisfies k, _ -> expect_whole (K.check_condition bd sys k) verdict bd sys t.by (evidence d given)
    | Contest.Largest _, _ -> assert false (* nothing in a certificate says that *)) d.document.targets;
  Hashtbl.iter (fun place targets -> expect K.Safe bd sys targets place (evidence d (piece d place))) covering;
  Hashtbl.iter (fun place ks -> expect_whole (K.check_condition bd sys (K.Any_of ks)) K.Safe bd sys place (evidence d (piece d place))) conditions

(* Some true: the smallest. *)
let check_cutoff d sys (c : C.cutoff) =
  if bound d <> K.Any then invalid "a cutoff is about any number of threads";
  let pair s l = (state (shared d s), state (local d l)) in
  let excepted = List.sort_uniq compare (List.map (fun (_, _, e) -> e) c.except) in
  let excepted = List.map (fun e ->
    (List.filter_map (fun (s, l, by) -> if by = e then Some (pair s l) else None) c.except, evidence d (piece d e))) excepted in
  let rest = match piece d c.rest with
    | Invariants (Some _, [], [], []) | Downward _ -> proof d (piece d c.rest)
    | other -> invalid "%s does not hold all that is reachable" (kind_of other) in
  let runs = C.map (fun (before, by, config_) ->
    ((Option.map state before, Option.map (fun l -> state (local d l)) by), counted (config d config_))) c.runs in
  let reached = C.map (fun (s, l, i) -> (pair s l, state i)) c.reachable in
  let needed = Option.map (fun ((s, l), members) -> (pair s l, packed d members)) c.needed in
  match K.check_cutoff sys { most = natural c.most; runs; reached; rest; excepted; needed } with
  | None -> invalid "the cutoff is not shown"
  | Some smallest -> smallest

(* throng-proved: `throng certify` with the proved checker. The question is bound as there. *)
open Fault
module C = Certificate
module K = Checker

let usage = "usage: throng-proved [--from KIND] [--initial CONFIG] [--threads N] [--target CONFIG]... [--prop FILE] [--deadlock] [--init-free] [--its-own-question] FILE CERTIFICATE"
type options = {
  mutable from : string option; mutable initial : string option; mutable threads : int option; mutable targets : string list;
  mutable prop : string option; mutable deadlock : bool; mutable init_free : bool; mutable own : bool; mutable files : string list }

let options arguments =
  let o = { from = None; initial = None; threads = None; targets = []; prop = None; deadlock = false; init_free = false; own = false; files = [] } in
  let rec go = function
    | "--from" :: kind :: more -> o.from <- Some kind; go more
    | "--initial" :: text :: more -> o.initial <- Some text; go more
    | "--threads" :: n :: more ->
      o.threads <- Some (if Input.is_number n && String.length n < 11 then Input.number n else unreadable "`%s` is not a number of threads" n); go more
    | "--target" :: text :: more -> o.targets <- o.targets @ [text]; go more
    | "--prop" :: file :: more -> o.prop <- Some file; go more
    | "--deadlock" :: more -> o.deadlock <- true; go more
    | "--init-free" :: more -> o.init_free <- true; go more
    | "--its-own-question" :: more -> o.own <- true; go more
    | word :: more when String.length word > 0 && word.[0] <> '-' -> o.files <- o.files @ [word]; go more
    | word :: _ -> unreadable "unexpected argument `%s`\n%s" word usage
    | [] -> () in
  go arguments;
  if o.own && (o.initial <> None || o.threads <> None || o.targets <> [] || o.prop <> None || o.deadlock || o.init_free) then unreadable "--its-own-question leaves nothing to ask for";
  o

let slurp path =
  try
    let channel = open_in_bin path in
    Fun.protect ~finally:(fun () -> close_in channel) (fun () -> really_input_string channel (in_channel_length channel))
  with Sys_error why -> unreadable "%s" why | End_of_file -> unreadable "%s: the file changed while it was read" path

let is_contest text = let text = String.trim text in text <> "" && text.[0] = '<'
(* What `throng check` asks: families, bound, and the targets; None for what `throng cutoff` asks. *)
let question o kind path (input : Input.t) about_cutoff =
  let shared = input.shared and local = input.local in
  let initial = match o.initial with None -> input.initial | Some text -> [Input.complete input.complements (Input.read_initial shared local text)] in
  let least = List.fold_left (fun n ((_, b), _) -> min n (Input.size b)) max_int initial in
  (match o.threads with
   | Some 0 -> unreadable "a system without threads does nothing"
   | Some n when not input.is_net && least > n -> unreadable "%d threads exist at the start, but only %d are allowed" least n
   | _ -> ());
  if about_cutoff && o.targets = [] && o.prop = None && not o.deadlock then (initial, o.threads, None)
  else begin
    let beside = Filename.remove_extension path ^ (if kind = "pnml" then ".xml" else ".prop") in
    let file = match o.prop with
      | Some file -> Some file
      | None -> if o.targets = [] && kind <> "spec" && Sys.file_exists beside then Some beside else None in
    let covering (t : Input.target) = { Contest.name = t.name; property = Contest.Covers (List.sort_uniq compare t.bad) } in
    let of_file file =
      let text = Input.without_mark (slurp file) in
      if not (is_contest text) then List.map covering (Input.read_prop shared local text)
      else if kind = "pnml" then List.map (fun (a : Contest.asked) -> { a with property = Contest.sought a.property }) (Contest.read input text)
      else unreadable "property files of the model-checking contest, about inputs that are not PNML, are not covered by this checker" in
    let asked = List.map (fun text -> covering (Input.read_target shared local text)) o.targets
                @ (match file with Some file -> of_file file | None -> []) in
    let asked = if asked = [] then List.map covering input.targets else asked in
    let asked = if o.deadlock then asked @ [{ Contest.name = "deadlock"; property = Contest.Deadlock }] else asked in
    if asked = [] then unreadable "there is nothing to check: no target is given";
    (initial, o.threads, Some asked)
  end

let bound_text = function C.Any -> "any number" | C.Threads n -> Printf.sprintf "at most %d" n | C.Tokens n -> Printf.sprintf "at most %d initial tokens in each place that may start with any number" n
let bag_text input b = String.concat "," (List.map (fun (l, n) ->
  let name = Input.name_of input.Input.local l in
  if n = 1 then name else Printf.sprintf "%d × %s" n name) b)
let family_text input ((s, b), any) =
  Printf.sprintf "%s|%s%s" (Input.name_of input.Input.shared s) (bag_text input b)
    (if any = [] then "" else "/" ^ String.concat "," (List.map (Input.name_of input.Input.local) any))
let config_text input c = family_text input (c, [])
let printable text = String.concat "" (List.map (fun c -> if c < ' ' || c = '\127' then Printf.sprintf "\\x%02x" (Char.code c) else String.make 1 c) (List.of_seq (String.to_seq text)))

(* Refuses an answer to another question; what each target of the certificate is called, and whether it was asked for. *)
let answers (d : Judge.decoder) families asked =
  let stated = List.map (fun (t : C.target) -> (Judge.stated d t, t.is_unsafe)) d.document.targets in
  let own : Contest.property -> string = function
    | Covers [] -> "no configuration at all"
    | Covers bad -> String.concat " or " (List.map (config_text d.input) bad)
    | Satisfies _ | Largest _ -> "a condition on numbers"
    | Deadlock -> "deadlock" in
  let unasked asked (p, _) = (own p, asked) in
  match asked with
  | None -> List.map (unasked true) stated
  | Some (initial, bound, targets) ->
    let set list = List.sort_uniq compare list in
    let all texts = String.concat " or " (List.map (family_text d.input) texts) in
    if set families <> set initial then invalid "answers another question: it starts with `%s`, the question with `%s`" (all families) (all initial);
    let bound = match bound with None -> C.Any | Some n -> if d.input.is_net then C.Tokens n else C.Threads n in
    if d.document.bound <> bound then
      invalid "answers another question: its number of threads is %s, that of the question %s" (bound_text d.document.bound) (bound_text bound);
    match targets with
    | None -> List.map (unasked false) stated
    | Some targets ->
      let verdicts = Hashtbl.create 64 and sought = Hashtbl.create 64 in
      List.iter (fun (p, is_unsafe) -> Hashtbl.add verdicts p is_unsafe) stated;
      let says p is_unsafe = List.mem is_unsafe (Hashtbl.find_all verdicts p) in
      (* The largest value of a sum is n: it is at least n, which is needless for 0, and never at least n + 1. *)
      let largest terms =
        let above (p, is_unsafe) = match (p : Contest.property) with
          | Satisfies (K.At_least (these, next)) when not is_unsafe && these = terms ->
            if next = Encode.integer 1L then Some [p]
            else let reached = Contest.Satisfies (K.At_least (terms, K.Z.sub next (Encode.integer 1L))) in if says reached true then Some [p; reached] else None
          | Satisfies (K.Any_of []) when not is_unsafe && terms = [] -> Some [p]
          | _ -> None in
        Option.value ~default:[] (List.find_map above stated) in
      let found (t : Contest.asked) = match t.property with
        | Largest terms -> largest terms
        | p -> if Hashtbl.mem verdicts p then [p] else [] in
      let reached = List.exists (fun (t : Contest.asked) -> match t.property with Largest _ -> false | p -> says p true) targets in
      List.iter (fun (t : Contest.asked) ->
        let properties = found t in
        if properties = [] && not reached then invalid "answers another question: nothing is said about target `%s`" t.name;
        List.iter (fun p -> if not (Hashtbl.mem sought p) then Hashtbl.add sought p t.name) properties) targets;
      List.map (fun (p, _) -> match Hashtbl.find_opt sought p with Some name -> (name, true) | None -> (own p, false)) stated

let certify o path certificate =
  let bytes = slurp certificate in
  let document = try C.read bytes with Unreadable why -> unreadable "%s: %s" certificate why in
  let extension = match Filename.extension path with "" -> "" | e -> String.sub e 1 (String.length e - 1) in
  let kind = match String.lowercase_ascii (Option.value ~default:extension o.from) with "ttd" -> "tts" | kind -> kind in
  let input = Input.read kind o.init_free (slurp path) in
  let about_cutoff = document.targets = [] && document.cutoff <> None in
  let asked = if o.own then None else Some (question o kind path input about_cutoff) in
  if document.targets = [] && document.cutoff = None then invalid "it answers nothing: there is no target in it, and no cutoff";
  if document.kind <> kind then invalid "the certificate is about a `%s` input, and this is `%s`" document.kind kind;
  let d = Judge.decoder input document in
  let families = Judge.families d in
  let named = answers d families asked in
  let sys = Judge.system input families in
  ignore (Judge.bound d);
  Judge.check_targets d sys;
  let cutoff = Option.map (fun (c : C.cutoff) -> (c.most, Judge.check_cutoff d sys c)) document.cutoff in
  Printf.printf "VALID  %s%s\n" path (if o.own then "  for the certificate's own question" else "");
  List.iter2 (fun (t : C.target) (name, asked) ->
    Printf.printf "%-6s %s  by %s%s\n" (if t.is_unsafe then "UNSAFE" else "SAFE") (printable name) (Judge.kind_of (Judge.piece d t.by))
      (if asked then "" else " (not asked)")) document.targets named;
  Option.iter (fun (most, smallest) ->
    Printf.printf "CUTOFF %s%d: shows every thread state that can be reached%s\n" (if smallest then "" else "at most ") most
      (if smallest then "; fewer do not" else "")) cutoff;
  Printf.printf "initial: %s\nthreads: %s\n" (printable (String.concat " or " (List.map (family_text input) families))) (bound_text document.bound);
  if o.own then print_endline "question: stated by the certificate; whether the input asks it was not checked"

let () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1 lsl 20; space_overhead = 400 }; (* most of what is made is soon forgotten *)
  let status = try
      let o = options (List.tl (Array.to_list Sys.argv)) in
      match o.files with
      | [path; certificate] -> certify o path certificate; 0
      | _ -> unreadable "%s" usage
    with
    | Invalid why -> Printf.printf "INVALID  %s\n" (printable why); 10
    | Unreadable why -> Printf.eprintf "error: %s\n" why; 2
    | Stack_overflow -> print_endline "UNKNOWN  checking did not finish: the stack is too small (ulimit -s unlimited)"; 1
    | Out_of_memory -> print_endline "UNKNOWN  checking did not finish: memory"; 1 in
  exit status

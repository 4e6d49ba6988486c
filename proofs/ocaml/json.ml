(* JSON, strictly: UTF-8, no key twice, at most 127 levels. *)
type t =
  | Null
  | Bool of bool
  | Number of int  (* below 10^18 *)
  | Large of string  (* the digits *)
  | String of string
  | List of t list
  | Object of (string * t) list

let deepest = 127
let fail at what = Fault.unreadable "this is no certificate: %s at byte %d" what at

(* One code point as UTF-8. *)
let encode buffer code = Buffer.add_utf_8_uchar buffer (Uchar.of_int code)

(* The length of the UTF-8 sequence that begins at [i]. *)
let sequence text i =
  let byte k = if i + k < String.length text then Char.code text.[i + k] else 0 in
  let follows k = byte k land 0xc0 = 0x80 in
  match byte 0 with
  | b when b < 0x80 -> 1
  | b when b >= 0xc2 && b < 0xe0 && follows 1 -> 2
  | b when b land 0xf0 = 0xe0 && follows 1 && follows 2 ->
    if (b = 0xe0 && byte 1 < 0xa0) || (b = 0xed && byte 1 >= 0xa0) then fail i "no UTF-8" else 3
  | b when b >= 0xf0 && b < 0xf5 && follows 1 && follows 2 && follows 3 ->
    if (b = 0xf0 && byte 1 < 0x90) || (b = 0xf4 && byte 1 >= 0x90) then fail i "no UTF-8" else 4
  | _ -> fail i "no UTF-8"

let parse text =
  let length = String.length text in
  let at = ref 0 in
  let peek () = if !at < length then text.[!at] else '\000' in
  let rec blanks () = match peek () with ' ' | '\t' | '\n' | '\r' -> incr at; blanks () | _ -> () in
  let expect c = if !at < length && peek () = c then incr at else fail !at (Printf.sprintf "expected `%c`" c) in
  let word w value =
    let n = String.length w in
    if !at + n <= length && String.sub text !at n = w then (at := !at + n; value) else fail !at "unexpected text" in
  let hex4 () =
    if !at + 4 > length then fail !at "a short escape";
    let digit c = match c with
      | '0' .. '9' -> Char.code c - 48
      | 'a' .. 'f' -> Char.code c - 87
      | 'A' .. 'F' -> Char.code c - 55
      | _ -> fail !at "no hexadecimal digit" in
    let value = String.fold_left (fun n c -> (16 * n) + digit c) 0 (String.sub text !at 4) in
    at := !at + 4;
    value in
  let escape buffer =
    let c = peek () in
    incr at;
    match c with
    | '"' | '\\' | '/' -> Buffer.add_char buffer c
    | 'b' -> Buffer.add_char buffer '\b'
    | 'f' -> Buffer.add_char buffer '\012'
    | 'n' -> Buffer.add_char buffer '\n'
    | 'r' -> Buffer.add_char buffer '\r'
    | 't' -> Buffer.add_char buffer '\t'
    | 'u' ->
      let high = hex4 () in
      if high < 0xd800 || high > 0xdfff then encode buffer high
      else if high > 0xdbff then fail !at "half of a pair"
      else begin
        expect '\\'; expect 'u';
        let low = hex4 () in
        if low < 0xdc00 || low > 0xdfff then fail !at "half of a pair";
        encode buffer (0x10000 + ((high - 0xd800) lsl 10) + (low - 0xdc00))
      end
    | _ -> fail !at "an unknown escape" in
  let string () =
    expect '"';
    let buffer = Buffer.create 16 in
    let rec go () =
      if !at >= length then fail !at "an open string";
      match peek () with
      | '"' -> incr at
      | '\\' -> incr at; escape buffer; go ()
      | c when c < ' ' -> fail !at "a control character"
      | _ ->
        let n = sequence text !at in
        Buffer.add_string buffer (String.sub text !at n);
        at := !at + n;
        go () in
    go ();
    Buffer.contents buffer in
  let digits () =
    let start = !at in
    while !at < length && peek () >= '0' && peek () <= '9' do incr at done;
    if !at = start then fail !at "expected a digit" in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    let first = !at in
    digits ();
    if text.[first] = '0' && !at > first + 1 then fail first "a leading zero";
    (match peek () with '.' | 'e' | 'E' -> fail !at "a number with a fraction" | _ -> ());
    if first > start && text.[first] = '0' then fail start "a number with a fraction"; (* -0 *)
    if !at - first > 18 then Large (String.sub text start (!at - start))
    else begin
      let n = ref 0 in
      for i = first to !at - 1 do n := (10 * !n) + Char.code text.[i] - 48 done;
      Number (if first > start then - !n else !n)
    end in
  let rec value depth =
    blanks ();
    match peek () with
    | '{' -> deeper depth; incr at; Object (members depth)
    | '[' -> deeper depth; incr at; List (elements depth)
    | '"' -> String (string ())
    | 't' -> word "true" (Bool true)
    | 'f' -> word "false" (Bool false)
    | 'n' -> word "null" Null
    | _ -> number ()
  and deeper depth = if depth >= deepest then fail !at "nested too deeply"
  and elements depth =
    blanks ();
    if peek () = ']' then (incr at; [])
    else begin
      let rec go found =
        let found = value (depth + 1) :: found in
        blanks ();
        if peek () = ',' then (incr at; go found) else (expect ']'; List.rev found) in
      go []
    end
  and members depth =
    blanks ();
    if peek () = '}' then (incr at; [])
    else begin
      let seen = Hashtbl.create 8 in
      let rec go found =
        blanks ();
        let key = string () in
        if Hashtbl.mem seen key then fail !at (Printf.sprintf "`%s` occurs twice" key);
        Hashtbl.add seen key ();
        blanks (); expect ':';
        let found = (key, value (depth + 1)) :: found in
        blanks ();
        if peek () = ',' then (incr at; go found) else (expect '}'; List.rev found) in
      go []
    end in
  let found = value 0 in
  blanks ();
  if !at < length then fail !at "more text";
  found

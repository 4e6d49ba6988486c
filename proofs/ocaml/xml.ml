(* Just enough XML for nets: elements, attributes, text. Document type declarations are refused. *)
type element = { name : string; attributes : (string * string) list; text : string; children : element list }

let fail at what = Fault.unreadable "this is not well-formed XML: %s at byte %d" what at
let local name = match String.rindex_opt name ':' with None -> name | Some i -> String.sub name (i + 1) (String.length name - i - 1)
let attribute e name = List.assoc_opt name e.attributes
let child e name = List.find_opt (fun c -> c.name = name) e.children

(* References to characters. *)
let unescape at text =
  let buffer = Buffer.create (String.length text) in
  let rec go i =
    if i < String.length text then
      if text.[i] <> '&' then (Buffer.add_char buffer text.[i]; go (i + 1))
      else
        let close = match String.index_from_opt text i ';' with Some k -> k | None -> fail at "an open reference" in
        let name = String.sub text (i + 1) (close - i - 1) in
        (match name with
         | "lt" -> Buffer.add_char buffer '<'
         | "gt" -> Buffer.add_char buffer '>'
         | "amp" -> Buffer.add_char buffer '&'
         | "quot" -> Buffer.add_char buffer '"'
         | "apos" -> Buffer.add_char buffer '\''
         | _ when String.length name > 1 && name.[0] = '#' ->
           let digits = String.sub name 1 (String.length name - 1) in
           let code = int_of_string_opt (if digits.[0] = 'x' then "0" ^ digits else digits) in
           (match code with
            | Some c when Uchar.is_valid c -> Buffer.add_utf_8_uchar buffer (Uchar.of_int c)
            | _ -> fail at "an unknown reference")
         | _ -> fail at "an unknown reference");
        go (close + 1) in
  go 0;
  Buffer.contents buffer

let parse text =
  let length = String.length text in
  let starts i s = i + String.length s <= length && String.sub text i (String.length s) = s in
  let after i s =
    let rec go k = if k >= length then fail i "an open part" else if starts k s then k + String.length s else go (k + 1) in
    go i in
  let is_blank c = c = ' ' || c = '\t' || c = '\n' || c = '\r' in
  let rec blanks i = if i < length && is_blank text.[i] then blanks (i + 1) else i in
  let word i =
    let rec go k = if k < length && not (is_blank text.[k] || String.contains "=/><\"'" text.[k]) then go (k + 1) else k in
    let k = go i in
    if k = i then fail i "a name is missing" else (String.sub text i (k - i), k) in
  let rec attributes i found =
    let i = blanks i in
    if starts i "/>" then (found, true, i + 2)
    else if starts i ">" then (found, false, i + 1)
    else
      let name, i = word i in
      let i = blanks i in
      if not (starts i "=") then fail i "expected `=`";
      let i = blanks (i + 1) in
      if i >= length || not (text.[i] = '"' || text.[i] = '\'') then fail i "expected a quotation mark";
      let close = match String.index_from_opt text (i + 1) text.[i] with Some k -> k | None -> fail i "an open string" in
      let value = unescape i (String.sub text (i + 1) (close - i - 1)) in
      let about_document = List.exists (fun p -> String.length name > String.length p && String.sub name 0 (String.length p) = p) ["xml:"; "xmlns:"; "xsi:"] in
      let name = local name in
      if List.mem_assoc name found then fail i "an attribute occurs twice";
      attributes (close + 1) (if about_document then found else (name, value) :: found) in
  (* What is not an element: comments, instructions, sections of characters. *)
  let rec content i depth parent chars children =
    if i >= length then if parent = "" then (Buffer.contents chars, List.rev children, i) else fail i (Printf.sprintf "`<%s>` is not closed" parent)
    else if starts i "<!--" then content (after (i + 4) "-->") depth parent chars children
    else if starts i "<![CDATA[" then begin
      let close = after (i + 9) "]]>" in
      Buffer.add_string chars (String.sub text (i + 9) (close - 3 - i - 9));
      content close depth parent chars children
    end
    else if starts i "<?" then content (after (i + 2) "?>") depth parent chars children
    else if starts i "<!" then fail i "a document type declaration"
    else if starts i "</" then begin
      let name, k = word (i + 2) in
      let k = blanks k in
      if name <> parent || not (starts k ">") then fail i (Printf.sprintf "`</%s>` closes nothing" name);
      (Buffer.contents chars, List.rev children, k + 1)
    end
    else if starts i "<" then begin
      if depth > 200 then fail i "nested too deeply";
      let name, k = word (i + 1) in
      let found, closed, k = attributes k [] in
      let text, inside, k = if closed then ("", [], k) else content k (depth + 1) name (Buffer.create 16) [] in
      content k depth parent chars ({ name = local name; attributes = found; text; children = inside } :: children)
    end
    else begin
      let stop = match String.index_from_opt text i '<' with Some k -> k | None -> length in
      Buffer.add_string chars (unescape i (String.sub text i (stop - i)));
      content stop depth parent chars children
    end in
  match content 0 0 "" (Buffer.create 16) [] with
  | outside, [root], _ when String.trim outside = "" -> root
  | _ -> fail 0 "there must be one root element"

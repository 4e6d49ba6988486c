(* Why there is no VALID. *)
exception Invalid of string  (* a rule fails, or another question is answered *)
exception Unreadable of string  (* no certificate, no input, or one that these readers do not cover *)

let invalid format = Printf.ksprintf (fun why -> raise (Invalid why)) format
let unreadable format = Printf.ksprintf (fun why -> raise (Unreadable why)) format

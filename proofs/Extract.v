(* The checker as OCaml. Numbers stay inductive: nothing but booleans, lists, options and pairs is mapped. *)
Require Import Certificate Cutoff Refutation Multiset Index System.
Require Extraction.
Require Import ExtrOcamlBasic.
Extraction Language OCaml.
Extraction "checker.ml" check check_condition check_deadlock check_cutoff join_all join_any negate at_least covering compare_conditions add_pair push plus minus some no_threads many total leb support
  System.PM.add System.PM.find System.PM.empty System.PS.add System.PS.empty System.PS.mem System.PS.union.

(* Generated from proofs/Extract.v by proofs/check with Coq's extraction: do not edit. *)

val negb : bool -> bool

type nat =
| O
| S of nat

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> nat

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val compOpp : comparison -> comparison

val add : nat -> nat -> nat

val eqb : bool -> bool -> bool

module type EqLtLe =
 sig
  type t
 end

module type TotalLeBool' =
 sig
  type t

  val leb : t -> t -> bool
 end

module MakeOrderTac :
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 sig
 end

module Nat :
 sig
  val eqb : nat -> nat -> bool
 end

val in_dec : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> bool

val rev : 'a1 list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val nodup : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list

val seq : nat -> nat -> nat list

type positive =
| XI of positive
| XO of positive
| XH

type n =
| N0
| Npos of positive

type z =
| Z0
| Zpos of positive
| Zneg of positive

module Pos :
 sig
  type mask =
  | IsNul
  | IsPos of positive
  | IsNeg
 end

module Coq_Pos :
 sig
  val succ : positive -> positive

  val add : positive -> positive -> positive

  val add_carry : positive -> positive -> positive

  val pred_double : positive -> positive

  val pred_N : positive -> n

  type mask = Pos.mask =
  | IsNul
  | IsPos of positive
  | IsNeg

  val succ_double_mask : mask -> mask

  val double_mask : mask -> mask

  val double_pred_mask : positive -> mask

  val sub_mask : positive -> positive -> mask

  val sub_mask_carry : positive -> positive -> mask

  val mul : positive -> positive -> positive

  val compare_cont : comparison -> positive -> positive -> comparison

  val compare : positive -> positive -> comparison

  val min : positive -> positive -> positive

  val eqb : positive -> positive -> bool

  val iter_op : ('a1 -> 'a1 -> 'a1) -> positive -> 'a1 -> 'a1

  val to_nat : positive -> nat

  val of_succ_nat : nat -> positive

  val eq_dec : positive -> positive -> bool
 end

module N :
 sig
  val succ : n -> n

  val pred : n -> n

  val add : n -> n -> n

  val sub : n -> n -> n

  val compare : n -> n -> comparison

  val eqb : n -> n -> bool

  val leb : n -> n -> bool

  val ltb : n -> n -> bool

  val min : n -> n -> n

  val to_nat : n -> nat

  val of_nat : nat -> n
 end

module Z :
 sig
  val double : z -> z

  val succ_double : z -> z

  val pred_double : z -> z

  val pos_sub : positive -> positive -> z

  val add : z -> z -> z

  val opp : z -> z

  val sub : z -> z -> z

  val mul : z -> z -> z

  val compare : z -> z -> comparison

  val leb : z -> z -> bool

  val ltb : z -> z -> bool

  val of_N : n -> z
 end

type 'x compare0 =
| LT
| EQ
| GT

module type OrderedType =
 sig
  type t

  val compare : t -> t -> t compare0

  val eq_dec : t -> t -> bool
 end

module OrderedTypeFacts :
 functor (O:OrderedType) ->
 sig
  module TO :
   sig
    type t = O.t
   end

  module IsTO :
   sig
   end

  module OrderTac :
   sig
   end

  val eq_dec : O.t -> O.t -> bool

  val lt_dec : O.t -> O.t -> bool

  val eqb : O.t -> O.t -> bool
 end

module KeyOrderedType :
 functor (O:OrderedType) ->
 sig
  module MO :
   sig
    module TO :
     sig
      type t = O.t
     end

    module IsTO :
     sig
     end

    module OrderTac :
     sig
     end

    val eq_dec : O.t -> O.t -> bool

    val lt_dec : O.t -> O.t -> bool

    val eqb : O.t -> O.t -> bool
   end
 end

module PositiveOrderedTypeBits :
 sig
  type t = positive

  val compare : t -> t -> positive compare0

  val eq_dec : positive -> positive -> bool
 end

val append : positive -> positive -> positive

module PositiveMap :
 sig
  module E :
   sig
    type t = positive

    val compare : t -> t -> positive compare0

    val eq_dec : positive -> positive -> bool
   end

  module ME :
   sig
    module MO :
     sig
      module TO :
       sig
        type t = positive
       end

      module IsTO :
       sig
       end

      module OrderTac :
       sig
       end

      val eq_dec : positive -> positive -> bool

      val lt_dec : positive -> positive -> bool

      val eqb : positive -> positive -> bool
     end
   end

  type key = positive

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val is_empty : 'a1 t -> bool

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val remove : key -> 'a1 t -> 'a1 t

  val xelements : 'a1 t -> key -> (key * 'a1) list

  val elements : 'a1 t -> (key * 'a1) list

  val cardinal : 'a1 t -> nat

  val xfind : key -> key -> 'a1 t -> 'a1 option

  val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t

  val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t

  val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t

  val xmap2_l : ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t

  val xmap2_r : ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t

  val _map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2

  val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool
 end

module Coq_PositiveOrderedTypeBits :
 sig
  type t = positive

  val eqb : positive -> positive -> bool

  val eq_dec : positive -> positive -> bool

  val compare : positive -> positive -> comparison
 end

module PositiveSet :
 sig
  module E :
   sig
    type t = positive

    val eqb : positive -> positive -> bool

    val eq_dec : positive -> positive -> bool

    val compare : positive -> positive -> comparison
   end

  type elt = positive

  type tree =
  | Leaf
  | Node of tree * bool * tree

  type t = tree

  val empty : t

  val is_empty : t -> bool

  val mem : positive -> t -> bool

  val add : positive -> t -> t

  val singleton : positive -> t

  val node : t -> bool -> t -> t

  val remove : positive -> t -> t

  val union : t -> t -> t

  val inter : t -> t -> t

  val diff : t -> t -> t

  val equal : t -> t -> bool

  val subset : t -> t -> bool

  val rev_append : elt -> elt -> elt

  val rev : elt -> elt

  val xfold : (positive -> 'a1 -> 'a1) -> t -> 'a1 -> positive -> 'a1

  val fold : (positive -> 'a1 -> 'a1) -> t -> 'a1 -> 'a1

  val xforall : (positive -> bool) -> t -> positive -> bool

  val for_all : (positive -> bool) -> t -> bool

  val xexists : (positive -> bool) -> t -> positive -> bool

  val exists_ : (positive -> bool) -> t -> bool

  val xfilter : (positive -> bool) -> t -> positive -> t

  val filter : (positive -> bool) -> t -> t

  val xpartition : (positive -> bool) -> t -> positive -> t * t

  val partition : (positive -> bool) -> t -> t * t

  val xelements : t -> positive -> positive list -> positive list

  val elements : t -> positive list

  val cardinal : t -> nat

  val choose : t -> elt option

  val min_elt : t -> elt option

  val max_elt : t -> elt option

  val compare_bool : bool -> bool -> comparison

  val compare : t -> t -> comparison

  val eq_dec : t -> t -> bool
 end

module PM :
 sig
  module E :
   sig
    type t = positive

    val compare : t -> t -> positive compare0

    val eq_dec : positive -> positive -> bool
   end

  module ME :
   sig
    module MO :
     sig
      module TO :
       sig
        type t = positive
       end

      module IsTO :
       sig
       end

      module OrderTac :
       sig
       end

      val eq_dec : positive -> positive -> bool

      val lt_dec : positive -> positive -> bool

      val eqb : positive -> positive -> bool
     end
   end

  type key = positive

  type 'a tree = 'a PositiveMap.tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val is_empty : 'a1 t -> bool

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val remove : key -> 'a1 t -> 'a1 t

  val xelements : 'a1 t -> key -> (key * 'a1) list

  val elements : 'a1 t -> (key * 'a1) list

  val cardinal : 'a1 t -> nat

  val xfind : key -> key -> 'a1 t -> 'a1 option

  val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t

  val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t

  val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t

  val xmap2_l : ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t

  val xmap2_r : ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t

  val _map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2

  val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool
 end

module PS :
 sig
  module E :
   sig
    type t = positive

    val eqb : positive -> positive -> bool

    val eq_dec : positive -> positive -> bool

    val compare : positive -> positive -> comparison
   end

  type elt = positive

  type tree = PositiveSet.tree =
  | Leaf
  | Node of tree * bool * tree

  type t = tree

  val empty : t

  val is_empty : t -> bool

  val mem : positive -> t -> bool

  val add : positive -> t -> t

  val singleton : positive -> t

  val node : t -> bool -> t -> t

  val remove : positive -> t -> t

  val union : t -> t -> t

  val inter : t -> t -> t

  val diff : t -> t -> t

  val equal : t -> t -> bool

  val subset : t -> t -> bool

  val rev_append : elt -> elt -> elt

  val rev : elt -> elt

  val xfold : (positive -> 'a1 -> 'a1) -> t -> 'a1 -> positive -> 'a1

  val fold : (positive -> 'a1 -> 'a1) -> t -> 'a1 -> 'a1

  val xforall : (positive -> bool) -> t -> positive -> bool

  val for_all : (positive -> bool) -> t -> bool

  val xexists : (positive -> bool) -> t -> positive -> bool

  val exists_ : (positive -> bool) -> t -> bool

  val xfilter : (positive -> bool) -> t -> positive -> t

  val filter : (positive -> bool) -> t -> t

  val xpartition : (positive -> bool) -> t -> positive -> t * t

  val partition : (positive -> bool) -> t -> t * t

  val xelements : t -> positive -> positive list -> positive list

  val elements : t -> positive list

  val cardinal : t -> nat

  val choose : t -> elt option

  val min_elt : t -> elt option

  val max_elt : t -> elt option

  val compare_bool : bool -> bool -> comparison

  val compare : t -> t -> comparison

  val eq_dec : t -> t -> bool
 end

type bag = n PM.t

type counted = positive * bag

type rule = { src : positive; dst : positive; take : bag; put : bag;
              spawn : bag; moves : positive option list PM.t }

val fates : rule -> positive -> positive option list

val present : positive option list -> positive list

type family = { at_shared : positive; fixed : bag; any : positive list }

type system = { rules : rule list; families : family list }

type bound =
| Any
| Threads of n
| Tokens of n

val within : bound -> n -> bool

type condition =
| At_least of (positive * z) list * z
| Dead
| Live
| All_of of condition list
| Any_of of condition list

val turn : positive -> positive -> positive

val gather :
  'a1 PM.t -> positive -> (positive * 'a1) list -> (positive * 'a1) list

val entries : 'a1 PM.t -> (positive * 'a1) list

val many : bag -> positive -> n

val nonzero : n -> n option

val plus : bag -> bag -> bag

val node0 : bag -> n option -> bag -> bag

val minus : bag -> bag -> bag

val no_threads : bag

val some : positive -> n -> bag

val leb0 : bag -> bag -> bool

val eqb0 : bag -> bag -> bool

val total : bag -> n

val support : bag -> positive list

val stays : rule -> bool

val counts_to : n -> n list

val at_option : positive option -> n -> bag

val choose0 : positive option list -> n -> bag list

val ways :
  (positive -> positive option list) -> (positive * n) list -> bag list

val after : rule -> bag -> bag list

val fire : bound -> rule -> bag -> bag list

val goes_to : positive -> positive option -> bool

val back : rule -> positive -> positive option list

val before : rule -> bag -> bag list

val predecessors : rule -> bag -> bag list

val lookup : 'a1 list PM.t -> positive -> 'a1 list

val push : positive -> 'a1 -> 'a1 list PM.t -> 'a1 list PM.t

val group : ('a1 -> positive) -> 'a1 list -> 'a1 list PM.t

val least : positive list -> positive option

val leader : rule -> positive option

val leader_key : positive option -> positive

val leads_key : rule -> positive

type rule_index = rule list PM.t PM.t

val index_rules : rule list -> rule_index

val rules_led : rule_index -> positive -> positive option -> rule list

val bag_key : bag -> positive

type packed = (positive * n) list

type packed_config = positive * packed

val drop : positive -> n -> packed -> packed option

val drops : packed -> packed -> packed option

val order : positive -> positive -> comparison

val insert : positive -> n -> packed -> packed

val inserts : packed -> packed -> packed

val packed_total : packed -> n

type packed_rule = { whole : rule; takes : packed; puts : packed }

val pack : rule -> packed_rule

val packed_after : rule -> packed -> packed list

val packed_fire : bound -> packed_rule -> packed -> packed list

type 'a index_of = 'a list PM.t PM.t

val index_with : (rule -> 'a1) -> rule list -> 'a1 index_of

type packed_index = packed_rule index_of

val pack_rules : rule list -> packed_index

val all_rules : 'a1 index_of -> ('a1 -> bool) -> packed_config -> bool

val nothing : 'a1 list -> bool

val stuck : bound -> packed_index -> packed_config -> bool

type packed_set =
| Packed_set of bool * packed_set PM.t PM.t

val no_packed : packed_set

val holds_packed : packed_set -> packed -> bool

val branch : 'a1 PM.t option -> 'a1 PM.t

val add_packed : packed -> packed_set -> packed_set

type packed_sets = packed_set PM.t

val add_config : packed_sets -> packed_config -> packed_sets

val pack_set : packed_config list -> packed_sets

val holds : packed_sets -> positive -> packed -> bool

val mem0 : positive -> positive list -> bool

val starts_withinb : bound -> bag -> bag -> bool

val initialb : bound -> system -> counted -> bool

val leads :
  bound -> rule_index -> counted -> positive option -> counted -> bool

val coversb : counted -> counted -> bool

type taken_steps = (positive option * counted) list

val check_steps : bound -> rule_index -> counted -> taken_steps -> bool

val ends : counted -> taken_steps -> counted

val visited : counted -> taken_steps -> PS.t

val check_run : bound -> system -> counted -> taken_steps -> bool

val check_trace :
  bound -> system -> counted list -> counted -> taken_steps -> bool

val extras : positive list -> (positive -> n) -> n option -> bag list

val starts : bound -> family -> bag list option

val number : 'a1 list -> n

val too_many : bound -> n -> family -> bool

val check_starts : bound -> n -> packed_sets -> family -> bool

val check_forward :
  bound -> (packed -> bool) -> system -> (packed_config -> bool) ->
  packed_config list -> packed_sets -> bool

val check_set :
  bound -> system -> (packed_config -> bool) -> packed_config list -> bool

val index_targets : counted list -> packed list PM.t

val covers_one : packed list PM.t -> packed_config -> bool

val check_closed :
  bound -> system -> counted list -> packed_config list -> bool

type ideal = bag * PS.t

val only : (positive -> bool) -> bag -> bag

val counts_out : ideal -> positive -> bool

val holds_entries : ideal -> (positive * n) list -> bool

val belowb : ideal -> bag -> bool

val ideal_leb : ideal -> ideal -> bool

type downward = ideal list PM.t

val image : rule -> PS.t -> PS.t

val post_of : (positive * n) list -> rule -> ideal -> ideal list

val nonblocking : rule -> bool

type listing = n * ideal list

val count_all : ideal list -> listing

val by_local : ideal list -> listing PM.t

type ideals = { same : ideal list PM.t; with_local : listing PM.t;
                every : listing }

val index_ideals : ideal list -> ideals

val candidates : ideals -> ideal -> ideal list

val has : ideals PM.t -> positive -> ideal -> bool

val locals_of : ideal -> packed

val check_downward : system -> counted list -> downward -> bool

type partners = { class_of : positive PM.t; rows : PS.t PM.t }

type views = partners PM.t

val class_row : partners -> positive -> PS.t

val row : partners -> positive -> PS.t

val pair : partners -> positive -> positive -> bool

val single : partners -> positive -> bool

val states : partners -> PS.t

val classes : partners -> positive list -> positive list

val symmetric : partners -> bool

val together : partners -> bag -> bool

val builtb : views -> counted -> bool

val bystanders : partners -> bag -> PS.t

val check_bystanders : partners -> partners -> rule -> PS.t -> bool

val check_views_step : views -> rule -> bool

val check_views_start : views -> family -> bool

val check_views : system -> views -> bool

type basis = bag list PM.t

type basis_index = bag list PM.t PM.t

val first_key : bag -> positive

val index_basis : basis -> basis_index

val aboveb : basis_index -> (counted -> bool) -> counted -> bool

val check_rule : basis -> basis_index -> (counted -> bool) -> rule -> bool

val starts_below : family -> bag -> bool

val check_basis : system -> counted list -> basis -> (counted -> bool) -> bool

type vector = { of_shared : z PM.t; of_local : z PM.t }

val weight : z PM.t -> positive -> z

val sum : vector -> bag -> z

val value : vector -> counted -> z

val nonnegative : vector -> bool

val check_vector_step : views -> vector -> z -> rule -> bool

val check_vector : system -> views -> vector -> bool

val exceeds : system -> vector -> counted -> bool

type division =
| Divide of PS.t * division * division
| Settled of vector * z list

val inside : positive -> PS.t list -> bool

val enters : positive -> positive -> PS.t -> bool

val drop_of : (PS.t -> bool) -> (PS.t * z) list -> z

val check_leaf_step :
  views -> PS.t list -> (PS.t * z) list -> vector -> rule -> bool

val check_leaf :
  system -> views -> PS.t list -> PS.t list -> vector -> z list -> bool

val check_tree : system -> views -> PS.t list -> PS.t list -> division -> bool

val tree_exceeds : system -> PS.t list -> division -> counted -> bool

type vectors = { of_all_runs : vector list; by_cases : division list }

val no_vectors : vectors -> bool

val ruled_out : system -> views option -> vectors -> counted -> bool

val check_invariants :
  system -> counted list -> views option -> vectors -> basis -> bool

val packed_many : packed -> positive -> n

val packed_value : (positive * z) list -> packed -> z

val satisfied : packed_index -> packed_config -> condition -> bool

val check_condition_run :
  bound -> system -> condition -> counted -> taken_steps -> bool

val check_condition_set :
  bound -> system -> condition -> packed_config list -> bool

type merging = positive option PM.t

val merged_to : merging -> positive -> positive option

val merge_threads : merging -> positive list -> positive list

val merge : merging -> bag -> bag

val merge_counted : merging -> counted -> counted

val merge_family : merging -> family -> family

val simple_rule : positive -> positive -> bag -> bag -> rule

val merge_rule : merging -> rule -> rule

val join : rule -> rule -> rule

val collect : ('a1 -> 'a2 list option) -> 'a1 list -> 'a2 list option

val extend :
  PS.t -> (positive -> rule list) -> nat -> rule -> rule list option

val paths :
  rule list -> PS.t -> (positive -> rule list) -> nat -> rule list option

type shape = ((positive * positive) * packed) * packed

val shape_of : rule -> shape

val same_entries : packed -> packed -> bool

val same_shape : shape -> shape -> bool

val shape_key : shape -> positive

val add_distinct :
  (shape list PM.t * rule list) -> rule -> shape list PM.t * rule list

val distinct : rule list -> rule list

val no_spawn : rule -> bool

val check_quotient :
  system -> counted list -> merging -> PS.t -> nat -> (system -> counted list
  -> bool) -> bool

val about : condition -> positive list option

val unchanged : merging -> positive -> bool

val keeps_condition : merging -> condition -> bool

val keeps : positive -> positive option -> bool

val movers : rule -> positive list

val moving : system -> PS.t

val deadlocked : bound -> packed_index -> PS.t -> packed_config -> bool

val check_deadlock_run : bound -> system -> counted -> taken_steps -> bool

val check_deadlock_set : bound -> system -> packed_config list -> bool

val no_vanishing : views -> rule -> bool

val check_signed : system -> views -> vector -> bool

val alone : rule list -> PS.t option

val check_stuck :
  system -> PS.t -> vector list -> rule list -> positive -> partners -> bool

val check_deadlock_invariants : system -> views -> vector list -> bool

module Sort :
 functor (X:TotalLeBool') ->
 sig
  val merge : X.t list -> X.t list -> X.t list

  val merge_list_to_stack :
    X.t list option list -> X.t list -> X.t list option list

  val merge_stack : X.t list option list -> X.t list

  val iter_merge : X.t list option list -> X.t list -> X.t list

  val sort : X.t list -> X.t list

  val flatten_stack : X.t list option list -> X.t list
 end

type terms_type = (positive * z) list

val then_ : comparison -> comparison -> comparison

val compare_terms : terms_type -> terms_type -> comparison

val rank : condition -> n

val compare_conditions : condition -> condition -> comparison

module Order :
 sig
  type t = condition

  val below : condition -> condition -> bool

  val leb : condition -> condition -> bool
 end

module Sorted :
 sig
  val merge : condition list -> condition list -> condition list

  val merge_list_to_stack :
    condition list option list -> condition list -> condition list option list

  val merge_stack : condition list option list -> condition list

  val iter_merge :
    condition list option list -> condition list -> condition list

  val sort : condition list -> condition list

  val flatten_stack : condition list option list -> condition list
 end

val once : condition list -> condition list

val tidy : condition list -> condition list

val single0 : (condition list -> condition) -> condition list -> condition

val is_none : condition -> bool

val is_all : condition -> bool

val join_all : condition list -> condition

val join_any : condition list -> condition

val at_least : terms_type -> z -> condition

val negate : condition -> condition

val covering : bag -> condition

val live : rule list -> condition

val in_numbers : rule list -> condition -> condition

val one_state : positive -> system -> bool

type comparison_type = terms_type * z

type held = { known : comparison_type PM.t; next_place : positive;
              undecided : condition list list }

val nothing_held : held

val assume : held -> condition -> held option

type linear = { weights : z PM.t; compared : (positive * n) list;
                trapped : (positive * n) list }

type case =
| Split of n
| Linear of linear

val pick : n -> 'a1 list -> ('a1 * 'a1 list) option

val add_terms : z -> terms_type -> z PM.t -> z PM.t

val use :
  comparison_type PM.t -> (positive * n) list -> (z PM.t * z) -> (z PM.t * z)
  option

val as_vector : z PM.t -> vector

val never_grows : system -> z PM.t -> bool

val contradicts : system -> comparison_type PM.t -> held -> linear -> bool

val assume_each : held -> condition list -> held list option

val check_cases :
  system -> comparison_type PM.t -> case list -> held list -> bool

val in_trap : PS.t -> bag -> bool

val check_trap : system -> PS.t -> bool

val number_traps : PS.t list -> positive -> comparison_type PM.t

type refutation = { only_state : positive; traps : PS.t list;
                    cases : case list }

val check_refutation : bound -> system -> condition -> refutation -> bool

val covering_one : counted list -> condition

type proof =
| Closed_ of packed_config list
| Downward_ of downward
| Invariants_ of views option * vectors * basis
| Refutation_ of refutation

type evidence =
| Trace_ of counted * taken_steps
| Proof_ of proof
| Through_ of merging * PS.t * nat * proof

type verdict =
| Safe
| Unsafe
| Invalid

val check_proof : bound -> proof -> system -> counted list -> bool

val check : bound -> system -> counted list -> evidence -> verdict

val check_condition_proof : bound -> condition -> proof -> system -> bool

val one_kept_state : system -> PS.t -> bool

val check_condition : bound -> system -> condition -> evidence -> verdict

val no_trees : vectors -> bool

val check_deadlock : bound -> system -> evidence -> verdict

type pairs = PS.t PM.t

val has_pair : pairs -> positive -> positive -> bool

val add_pair : positive -> positive -> pairs -> pairs

val check_runs :
  n -> system -> rule_index -> positive -> counted PM.t -> ((positive
  option * positive option) * counted) list -> counted PM.t option

val collect_reached :
  counted PM.t -> ((positive * positive) * positive) list -> pairs -> pairs
  option

val one : positive -> positive -> counted

val add_all : (positive * positive) list -> pairs -> pairs

val rest_listed : system -> proof -> pairs -> bool

type cutoff = { most : n;
                runs : ((positive option * positive option) * counted) list;
                reached : ((positive * positive) * positive) list;
                rest : proof;
                excepted : ((positive * positive) list * evidence) list;
                needed : ((positive * positive) * packed_config list) option }

val is_safe : verdict -> bool

val check_needed :
  cutoff -> system -> pairs -> ((positive * positive) * packed_config list)
  -> bool

val check_cutoff : system -> cutoff -> bool option

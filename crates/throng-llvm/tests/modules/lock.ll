; A lock that a thread takes by an exchange, as rustc writes it, with debug information.
%Pair = type { i32, [2 x i16] }

@LOCK = internal global <{ [1 x i8], [3 x i8] }> <{ [1 x i8] zeroinitializer, [3 x i8] undef }>, align 4, !dbg !10
@INSIDE = internal global i32 0, align 4, !dbg !14
@message = private unnamed_addr constant [8 x i8] c"two\00\22 in", align 1
@table = private constant [2 x ptr] [ptr @enter, ptr @leave]

declare void @_RNvNtCsgEmfK2I1SDS_4core9panicking5panic(ptr align 1, i64, ptr align 8) #1
declare void @llvm.lifetime.start.p0(ptr captures(none))
declare void @llvm.lifetime.end.p0(ptr captures(none))
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)

define internal void @enter(ptr noundef %p) unnamed_addr #0 !dbg !20 {
  %old = atomicrmw add ptr %p, i32 1 monotonic, align 4, !dbg !23
  ret void, !dbg !23
}

define internal void @leave(ptr noundef %p) unnamed_addr #0 {
  %old = atomicrmw sub ptr %p, i32 1 monotonic, align 4
  ret void
}

define void @worker() unnamed_addr #0 !dbg !24 {
start:
  %pair = alloca %Pair, align 4
  call void @llvm.lifetime.start.p0(ptr %pair)
  br label %spin, !dbg !25

spin:
  %0 = atomicrmw xchg ptr @LOCK, i8 1 acquire, align 1, !dbg !26
  %1 = icmp ne i8 %0, 0, !dbg !26
  br i1 %1, label %spin, label %inside, !dbg !26

inside:
  %which = load ptr, ptr @table, align 8, !dbg !27
  call void %which(ptr @INSIDE), !dbg !27
  %2 = load atomic i32, ptr @INSIDE monotonic, align 4, !dbg !28
    #dbg_value(i32 %2, !29, !DIExpression(), !28)
  store i32 %2, ptr %pair, align 4
  %second = getelementptr inbounds %Pair, ptr %pair, i64 0, i32 1, i64 1
  store i16 7, ptr %second, align 2
  %3 = load i32, ptr %pair, align 4
  %4 = icmp eq i32 %3, 1, !dbg !28
  br i1 %4, label %good, label %bad, !dbg !28

good:
  call void @leave(ptr @INSIDE)
  call void @llvm.lifetime.end.p0(ptr %pair)
  store atomic i8 0, ptr @LOCK release, align 1, !dbg !30
  ret void

bad:
  call void @_RNvNtCsgEmfK2I1SDS_4core9panicking5panic(ptr align 1 @message, i64 3, ptr align 8 @message) #1, !dbg !28
  unreachable
}

attributes #0 = { nounwind "target-cpu"="x86-64" }
attributes #1 = { cold noreturn }

!llvm.dbg.cu = !{!0}
!0 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !1, producer: "test", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "lock.rs", directory: "/nowhere")
!2 = !DINamespace(name: "lock", scope: null)
!10 = !DIGlobalVariableExpression(var: !11, expr: !DIExpression())
!11 = distinct !DIGlobalVariable(name: "LOCK", scope: !2, file: !1, line: 3, type: !12, isLocal: true, isDefinition: true)
!12 = !DICompositeType(tag: DW_TAG_structure_type, name: "Lock", scope: !2, file: !1, size: 32, align: 32, elements: !13)
!13 = !{!16}
!14 = !DIGlobalVariableExpression(var: !15, expr: !DIExpression())
!15 = distinct !DIGlobalVariable(name: "INSIDE", scope: !2, file: !1, line: 4, type: !18, isLocal: true, isDefinition: true)
!16 = !DIDerivedType(tag: DW_TAG_member, name: "locked", scope: !12, file: !1, baseType: !17, size: 8, align: 8)
!17 = !DIBasicType(name: "u8", size: 8, encoding: DW_ATE_unsigned)
!18 = !DIBasicType(name: "i32", size: 32, encoding: DW_ATE_signed)
!20 = distinct !DISubprogram(name: "enter", scope: !2, file: !1, line: 7, type: !21, unit: !0)
!21 = !DISubroutineType(types: !22)
!22 = !{null}
!23 = !DILocation(line: 8, column: 5, scope: !20)
!24 = distinct !DISubprogram(name: "worker", scope: !2, file: !1, line: 12, type: !21, unit: !0)
!25 = !DILocation(line: 13, column: 5, scope: !24)
!26 = !DILocation(line: 40, column: 9, scope: !31, inlinedAt: !25)
!27 = !DILocation(line: 14, column: 5, scope: !24)
!28 = !DILocation(line: 15, column: 5, scope: !24)
!29 = !DILocalVariable(name: "seen", scope: !24, file: !1, line: 15, type: !18)
!30 = !DILocation(line: 16, column: 5, scope: !24)
!31 = distinct !DISubprogram(name: "lock<u8>", scope: !2, file: !1, line: 39, type: !21, unit: !0)

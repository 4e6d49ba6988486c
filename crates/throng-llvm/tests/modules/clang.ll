; ModuleID = 'lock.c'
source_filename = "lock.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@lock = dso_local global i32 0, align 4
@inside = dso_local global i32 0, align 4
@.str = private unnamed_addr constant [12 x i8] c"inside == 1\00", align 1
@.str.1 = private unnamed_addr constant [7 x i8] c"lock.c\00", align 1
@__PRETTY_FUNCTION__.worker = private unnamed_addr constant [18 x i8] c"void worker(void)\00", align 1

; Function Attrs: noinline nounwind optnone uwtable
define dso_local void @worker() #0 {
entry:
  %seen = alloca i32, align 4
  br label %while.cond

while.cond:                                       ; preds = %while.body, %entry
  %0 = atomicrmw xchg ptr @lock, i32 1 seq_cst, align 4
  %tobool = icmp ne i32 %0, 0
  br i1 %tobool, label %while.body, label %while.end

while.body:                                       ; preds = %while.cond
  br label %while.cond, !llvm.loop !6

while.end:                                        ; preds = %while.cond
  %1 = load i32, ptr @inside, align 4
  %inc = add nsw i32 %1, 1
  store i32 %inc, ptr @inside, align 4
  store i32 %inc, ptr %seen, align 4
  %2 = load i32, ptr %seen, align 4
  %cmp = icmp eq i32 %2, 1
  br i1 %cmp, label %if.then, label %if.else

if.then:                                          ; preds = %while.end
  br label %if.end

if.else:                                          ; preds = %while.end
  call void @__assert_fail(ptr noundef @.str, ptr noundef @.str.1, i32 noundef 9, ptr noundef @__PRETTY_FUNCTION__.worker) #2
  unreachable

if.end:                                           ; preds = %if.then
  %3 = load i32, ptr @inside, align 4
  %dec = add nsw i32 %3, -1
  store i32 %dec, ptr @inside, align 4
  store atomic i32 0, ptr @lock seq_cst, align 4
  ret void
}

; Function Attrs: noreturn nounwind
declare void @__assert_fail(ptr noundef, ptr noundef, i32 noundef, ptr noundef) #1

attributes #0 = { noinline nounwind optnone uwtable "frame-pointer"="all" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { noreturn nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" }
attributes #2 = { noreturn nounwind }

!llvm.module.flags = !{!0, !1, !2, !3, !4}
!llvm.ident = !{!5}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 2}
!4 = !{i32 7, !"frame-pointer", i32 2}
!5 = !{!"clang version 19"}
!6 = distinct !{!6, !7}
!7 = !{!"llvm.loop.mustprogress"}

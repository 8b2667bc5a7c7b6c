// SPDX-License-Identifier: Apache-2.0
//
// Programs that are wrong, for test_microcode.py. `=== name | what the message says` begins one. Lines that begin with
// `-` are what is wrong, those with `+` are what makes it right. `//!` marks the line that the message names. DECLARED of
// test_microcode.py stands before each program, and ANY_USE, with the label `end`, after it.

=== a call too many | one too many
        call    a7
        call    a8
        jump    end
routine a8:
-       call    a7
+       fill    0
        return
routine a7:
        call    a6
        return
routine a6:
        call    a5
        return
routine a5:
        call    a4
        return
routine a4:
        call    a3
        return
routine a3:
        call    a2
        return
routine a2:
        call    a1
        return
routine a1:
        call    a0                      //!
        return
routine a0:
        return

=== recursion | one too many
        call    a
        jump    end
routine a:
        call    b
        return
routine b:
        jump    idle, c
-       call    a                       //!
+       fill    0
c:
        return

=== a return without a call | without a call
        jump    idle, end
-       return                          //!
+       jump    end

=== a call of a label | `a` is no routine
        call    a                       //!
        jump    end
-a:
+routine a:
        return

=== no catch | nothing catches
+       catch   end
        read    temp, 0                 //!

=== no catch in a routine | nothing catches an error here (called in line 10)
+       catch   end
        call    a
        jump    end
routine a:
        fail    disabled, ErrSome       //!
        return

=== a handler's own error | has just caught
        catch   a
        read    temp, 0
        jump    end
a:
+       catch   end
        read    temp, 4                 //!

=== a catch that is not restored | `a` or `end` may catch
        catch   end
        jump    enabled, b
        catch   a
-       fill    0
+       read    temp, 0
+       catch   end
b:
        read    temp, 0                 //!
        jump    end
a:
        fill    0

=== a catch that a routine changes | returns with the catch `b`
        catch   end
        call    a
        read    temp, 0
        jump    end
routine a:
        catch   b
        read    temp, 4
+       catch   end
        return                          //!
handler b:
        fill    0

=== a catch that reaches beyond its label | catches only what is between
        catch   a
        read    temp, 0
        jump    b
a:
        jump    end
b:
+       catch   end
        read    temp, 0                 //!

=== a catch that reaches beyond its label in a call | catches only what is between
        catch   a
        call    d
        jump    b
a:
        jump    end
b:
+       catch   end
        call    c
        jump    end
routine c:
        read    temp, 0                 //!
        return
routine d:
        read    temp, 0
        return

=== a handler that nothing uses | nothing catches at `a`
-handler a:                              //!
+a:
        endless because it waits
        jump    enabled, a

=== a routine that runs into another | runs into the routine `b`
        call    a
        call    b
        jump    end
routine a:
        fill    0
+       falls   b
routine b:                              //!
        return

=== a routine that does not follow | does not follow
        call    a
        jump    end
-       falls   b                       //!
routine a:
        return

=== another space | `Place` is in SpaceBar, but a path comes here with SpaceLocal
constant Place = 4 in SpaceBar
        catch   end
-       jump    idle, a
+       jump    idle, end
        out     space, SpaceBar
        jump    a
a:
        read    temp, Place + 8         //!

=== another space of a register | `place` is in SpaceDevice or SpaceBar
register place = r9 in SpaceDevice or SpaceBar
        catch   end
        move    place, 4
-       out     space, SpaceLocal
+       out     space, SpaceDevice
        call    a
        jump    end
routine a:
        move    temp, 0
        write   place, temp             //!
        return

=== a space that does not exist | no space `SpaceBat`; did you mean `SpaceBar`?
-constant Place = 4 in SpaceBat         //!
+constant Place = 4 in SpaceBar
        fill    Place

=== a register that nothing wrote | before it is written
+       move    temp, 1
        fill    temp                    //!

=== an operand that nothing wrote | `other` may be read before it is written
        move    temp, 1
+       move    other, 2
        add     temp, other             //!

=== an error code that an access does not write | `error` may be read before it is written
        catch   a
-       read    temp, 0
+       fail    disabled, ErrSome
        jump    end
a:
        fill    error                   //!

=== a register that one path does not write | before it is written
+       move    temp, 0
        jump    enabled, a
        move    temp, 0
a:
        fill    temp                    //!

=== another life | may hold `other`
-       move    other, 1
+       move    life, 1
        fill    life                    //!

=== another life, after an error | may hold `other`
        move    life, 1
        catch   a
-       move    other, 1
+       move    temp, 1
        read    temp, 0
        move    life, 1
a:
        fill    life                    //!

=== a scratch register over a call | lost in the call of `a`
        move    temp, 1
        call    a
        fill    temp                    //!
        jump    end
-routine a:
+routine a returns temp:
        jump    enabled, b
        move    temp, 2
b:
        return

=== flags over a call | `flags` may be lost
        move    temp, 1
        call    a
        jump    zero, end               //!
        jump    end
-routine a:
+routine a returns flags:
        move    other, 0
        return

=== flags that nothing set | `flags` may be read
+       move    temp, 0
        jump    carry, end              //!

=== a result that is none | does not write it
        call    a
        jump    end
-routine a returns temp:                 //!
+routine a:
        return

=== any without need | `any` is not needed
        move    temp, 0
-       fill    any temp                //!
+       fill    temp

=== holds without need | `holds` is not needed
        move    temp, 0
-       holds   temp, a reason          //!
        fill    temp

=== a loop | may never end
a:
+       bounded by a reason
        fill    0                       //!
        jump    enabled, a

=== a deadline that the loop arms | may never end
+       arm     deadline, 1
a:
-       arm     deadline, 1             //!
        fill    0
        compare deadline, now
        jump    not_negative, a

=== a deadline that does not leave | may never end
        arm     deadline, 1
a:
        fill    0                       //!
        compare deadline, now
-       jump    negative, a
+       jump    not_negative, a

=== a deadline that a path misses | may never end
        arm     deadline, 1
a:
-       jump    enabled, a              //!
+       jump    enabled, end
        compare deadline, now
        jump    not_negative, a

=== a counter that the loop sets | may never end
+       move    temp, 3
a:
-       move    temp, 3                 //!
        sub     temp, 1
        jump    not_zero, a

=== a counter up that is set | may never end
+       move    temp, 0
a:
-       move    temp, 0                 //!
        add     temp, 1
        compare temp, 3
        jump    carry, a

=== a loop of errors | may never end
+       catch   end
-handler a:
-       catch   a                       //!
        read    temp, 0

=== a loop without its outer bound | may never end
        move    other, 3
a:
        arm     deadline, 1             //!
b:
        compare deadline, now
        jump    not_negative, b
-       compare other, 1
+       sub     other, 1
        jump    not_zero, a

=== endless without a loop | no loop passes
-       endless a reason                //!
        fill    0

=== endless without a reason | write the reason
a:
-       endless                         //!
+       endless here
        jump    enabled, a

=== unreachable code | no path reaches
        jump    end
-       fill    0                       //!

=== code that a known output keeps from | no path reaches
        out     ready, 0
-       jump    not_ready, end
+       jump    not_idle, end
        fill    0                       //!

=== an unused label | nothing goes to `a`
-a:                                      //!
        fill    0

=== a routine that is not called | nothing calls `a`
        jump    enabled, a
        jump    end
-routine a:                              //!
+a:
        jump    end

=== an unused constant | `One` is not used
constant One = 1                        //!
-       fill    0
+       fill    One

=== an unused parameter | `Some` is not used
parameter bit Some = 1'b1               //!
-       fill    0
+       jump    when(!Some), end

=== an unused register | `r` is not used
register r = r9                         //!
-       fill    0
+       move    r, 0

=== an unused error | `ErrMore` is not used
error ErrMore = 2 | more | |            //!
-       fill    0
+       fill    ErrMore

=== a misspelt instruction | no instruction `mvoe`; did you mean `move`?
-       mvoe    temp, 0                 //!
+       move    temp, 0

=== a misspelt register | no register `tmp`; did you mean `temp`?
-       move    tmp, 0                  //!
+       move    temp, 0

=== a misspelt condition | no condition `enable`; did you mean `enabled`?
-       jump    enable, end             //!
+       jump    enabled, end

=== a misspelt output | no output `readi`; did you mean `ready`?
-       out     readi, 0                 //!
+       out     ready, 0

=== a misspelt name | `StatusOK` is no register
-       fill    StatusOK                //!
+       fill    StatusOk

=== a misspelt label | no label `finish`; did you mean `finished`?
-       jump    finish                  //!
+       jump    finished
finished:
        fill    0

=== a misspelt error | no error `ErrSom`
        catch   end
-       fail    disabled, ErrSom        //!
+       fail    disabled, ErrSome

=== an operand too many | write it as `move register, operand`
-       move    temp, 0, 1              //!
+       move    temp, 0

=== a number of two halves | load it with `wide`
-       move    temp, 0x10001           //!
+       wide    temp, 0x10001

=== a wide number that is none | one instruction loads
-       wide    temp, 0x10000           //!
+       move    temp, 0x10000

=== a number of 33 bits | more than 32 bits
-       wide    temp, (1 << 32) + 1           //!
+       wide    temp, (1 << 31) + 1

=== a negative number | needs more than one half
-       move    temp, 1 - 2             //!
+       move    temp, 2 - 1

=== a shift by nothing | from 1 to 31
        move    temp, 1
-       shift   temp, 0                 //!
+       shift   temp, 1

=== a dword beyond an entry | from 0 to 15
-       entry   16, 0                   //!
+       entry   15, 0

=== a value that is none | is no value
-       fill    2 +                     //!
+       fill    2

=== a part of a constant | only a parameter can be selected from
-       fill    OffsetCq[3:0]           //!
+       fill    OffsetCq

=== a name twice | `Limit` is taken
-constant Limit = 1                      //!
        fill    0

=== a name of the package | is taken
-constant StatusOk = 1                   //!
        fill    0

=== a register twice | r5 is deadline: choose a free one
-register r = r5                         //!
        move    temp, 0
        fill    temp

=== a register that does not exist | r0 to r31
-register r = r32                        //!
        fill    0

=== a partner that is none | no other name
-register r = r9 shares temp             //!
+register r = r9
        move    r, 0

=== a label and an instruction in a line | no instruction `a:`
-a:      fill    0                       //!
+        fill    0

=== a label twice | already in line 11
        jump    enabled, a
a:
        fill    0
-a:                                      //!
        fill    0

=== an error without its turn | the next number, 2
-error ErrMore = 3 | more | |            //!
        fill    ErrSome

=== an error without a cell | 2 cells
-error ErrMore = 2 | more |              //!
+error ErrMore = 2 | more | |
        fill    ErrMore

=== a constant that is none | depends on a parameter
-constant Half = Limit / 2               //!
+localparam int unsigned Half = Limit / 2
        fill    Half

=== a result that needs no name | is no scratch register
        call    a
        jump    end
-routine a returns deadline:             //!
+routine a:
        return

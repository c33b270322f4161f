/* The same as x64.S, step by step. */
        .set BASE, 0x400000
        .set WRITE_FILE, 1 << 1
        .set ALL, 0x3fc2                        /* WRITE_FILE, MAKE_… of every kind, REFER */
        .set O_PATH_CLOEXEC, 0x280000
        .text
elf:    .byte 0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
        .short 2, 183                           /* ET_EXEC, EM_AARCH64 */
        .long 1
        .quad BASE + start - elf, header - elf, 0
        .long 0
        .short 64, 56, 1, 0, 0, 0
header: .long 1, 5                              /* PT_LOAD, readable and executable */
        .quad 0, BASE, BASE, end - elf, end - elf, 0x10000

start:  ldr     x19, [sp]                       /* argc */
        add     x20, sp, #8                     /* argv */
        add     x21, x20, x19, lsl #3
        add     x21, x21, #8                    /* envp */
        mov     x0, #0
        mov     x1, #0
        mov     x2, #1                          /* LANDLOCK_CREATE_RULESET_VERSION */
        mov     x8, #444                        /* landlock_create_ruleset */
        svc     #0
        mov     x22, x0
        cmp     x19, #1
        b.ne    rules
        cmp     x22, #0
        csel    x0, x22, xzr, ge
        b       exit

rules:  ldr     x0, [x20, #8]
        add     x20, x20, #16
        ldrb    w0, [x0]
        and     x0, x0, #3
        cmp     x22, #6                         /* the first ABI with scopes */
        csel    x0, x0, xzr, ge
        mov     x24, #ALL
        sub     sp, sp, #32
        stp     x24, xzr, [sp]                  /* handled_access_fs, handled_access_net */
        str     x0, [sp, #16]                   /* scoped */
        cmp     x22, #2
        b.lt    next
        mov     x0, sp
        mov     x1, #24
        mov     x2, #0
        mov     x8, #444
        svc     #0
        mov     x23, x0                         /* the ruleset */
        tbnz    x0, #63, closed

next:   ldr     x1, [x20], #8
        ldrb    w0, [x1]
        cmp     w0, #'-'
        b.eq    close
        cmp     x22, #2
        b.lt    next
        mov     x0, #-100                       /* AT_FDCWD */
        mov     x2, #O_PATH_CLOEXEC
        mov     x3, #0
        mov     x8, #56                         /* openat */
        svc     #0
        tbnz    x0, #63, next
        str     x24, [sp]
        str     w0, [sp, #8]
add:    mov     x0, x23
        mov     x1, #1                          /* LANDLOCK_RULE_PATH_BENEATH */
        mov     x2, sp
        mov     x3, #0
        mov     x8, #445                        /* landlock_add_rule */
        svc     #0
        tbz     x0, #63, next
        ldr     x1, [sp]
        mov     x2, #WRITE_FILE
        cmp     x1, x2
        b.eq    next
        str     x2, [sp]                        /* beneath a file, there is nothing to make or move */
        b       add

close:  cmp     x22, #2
        b.lt    become
        mov     x0, x23
        mov     x1, #0
        mov     x8, #446                        /* landlock_restrict_self */
        svc     #0
        tbnz    x0, #63, closed

become: ldr     x0, [x20]
        mov     x1, x20
        mov     x2, x21
        mov     x8, #221                        /* execve */
        svc     #0
        cmn     x0, #8                          /* ENOEXEC: a script that names no interpreter */
        b.ne    missed
        adr     x0, shell
        str     x0, [x20, #-8]
        sub     x1, x20, #8
        mov     x2, x21
        svc     #0
missed: adr     x1, no_program
        mov     x2, #(no_rules - no_program)
        b       fail
closed: adr     x1, no_rules
        mov     x2, #(end - no_rules)
fail:   mov     x0, #2
        mov     x8, #64                         /* write */
        svc     #0
        mov     x0, #126
exit:   mov     x8, #93                         /* exit */
        svc     #0

shell:      .asciz "/bin/sh"
no_program: .ascii "landlock: the program could not be executed\n"
no_rules:   .ascii "landlock: the rules could not be set\n"
end:

/*
 * Closes the sandbox with Landlock and then becomes the program (docs/decisions/0034-landlock.md).
 *
 *   landlock SCOPED PATH… -- PROGRAM ARGUMENT…
 *
 * Files may be opened for writing, made, and moved to another folder beneath a PATH only; one that does not exist counts for nothing. SCOPED is the field of
 * this name as a digit: 1 abstract sockets, 2 signals. Kernels below ABI 2, which refuse every move, start the program as it is. Without
 * arguments, the exit code is the ABI of the kernel, 0 for none. `npm run landlock` assembles this file into src/processes/sandbox/landlock-program.ts.
 */
        .set BASE, 0x400000
        .set WRITE_FILE, 1 << 1
        .set ALL, 0x3fc2                        /* WRITE_FILE, MAKE_… of every kind, REFER */
        .set O_PATH_CLOEXEC, 0x280000
        .text
elf:    .byte 0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
        .short 2, 62                            /* ET_EXEC, EM_X86_64 */
        .long 1
        .quad BASE + start - elf, header - elf, 0
        .long 0
        .short 64, 56, 1, 0, 0, 0
header: .long 1, 5                              /* PT_LOAD, readable and executable */
        .quad 0, BASE, BASE, end - elf, end - elf, 0x10000

start:  mov     (%rsp), %r15                    /* argc */
        lea     8(%rsp), %r12                   /* argv */
        lea     8(%r12,%r15,8), %r13            /* envp */
        xor     %edi, %edi
        xor     %esi, %esi
        mov     $1, %edx                        /* LANDLOCK_CREATE_RULESET_VERSION */
        mov     $444, %eax                      /* landlock_create_ruleset */
        syscall
        mov     %rax, %rbx
        cmp     $1, %r15
        jne     rules
        xor     %edi, %edi
        test    %rbx, %rbx
        cmovns  %ebx, %edi
        jmp     exit

rules:  mov     8(%r12), %rax
        add     $16, %r12
        movzbl  (%rax), %eax
        and     $3, %eax
        xor     %ecx, %ecx
        cmp     $6, %rbx                        /* the first ABI with scopes */
        cmovl   %ecx, %eax
        push    %rax                            /* scoped */
        push    $0                              /* handled_access_net */
        push    $ALL           /* handled_access_fs */
        cmp     $2, %rbx
        jl      next
        mov     %rsp, %rdi
        mov     $24, %esi
        xor     %edx, %edx
        mov     $444, %eax
        syscall
        mov     %rax, %r14                      /* the ruleset */
        test    %rax, %rax
        js      closed

next:   mov     (%r12), %rsi
        add     $8, %r12
        cmpb    $'-', (%rsi)
        je      close
        cmp     $2, %rbx
        jl      next
        mov     $-100, %edi                     /* AT_FDCWD */
        mov     $O_PATH_CLOEXEC, %edx
        mov     $257, %eax                      /* openat */
        syscall
        test    %eax, %eax
        js      next
        movq    $ALL, (%rsp)
        mov     %eax, 8(%rsp)
add:    mov     %r14, %rdi
        mov     $1, %esi                        /* LANDLOCK_RULE_PATH_BENEATH */
        mov     %rsp, %rdx
        xor     %r10d, %r10d
        mov     $445, %eax                      /* landlock_add_rule */
        syscall
        test    %rax, %rax
        jns     next
        cmpq    $WRITE_FILE, (%rsp)
        je      next
        movq    $WRITE_FILE, (%rsp)             /* beneath a file, there is nothing to make or move */
        jmp     add

close:  cmp     $2, %rbx
        jl      become
        mov     %r14, %rdi
        xor     %esi, %esi
        mov     $446, %eax                      /* landlock_restrict_self */
        syscall
        test    %rax, %rax
        js      closed

become: mov     (%r12), %rdi
        mov     %r12, %rsi
        mov     %r13, %rdx
        mov     $59, %eax                       /* execve */
        syscall
        lea     no_program(%rip), %rsi
        mov     $(no_rules - no_program), %edx
        cmp     $-8, %rax                       /* ENOEXEC: a script that names no interpreter */
        jne     fail
        lea     shell(%rip), %rdi
        mov     %rdi, -8(%r12)
        lea     -8(%r12), %rsi
        mov     %r13, %rdx
        mov     $59, %eax
        syscall
        lea     no_program(%rip), %rsi
        mov     $(no_rules - no_program), %edx
        jmp     fail
closed: lea     no_rules(%rip), %rsi
        mov     $(end - no_rules), %edx
fail:   mov     $2, %edi
        mov     $1, %eax                        /* write */
        syscall
        mov     $126, %edi
exit:   mov     $60, %eax                       /* exit */
        syscall

shell:      .asciz "/bin/sh"
no_program: .ascii "landlock: the program could not be executed\n"
no_rules:   .ascii "landlock: the rules could not be set\n"
end:

/** What a browser shows that is not signed in. */
export function SignIn({ trouble }: { readonly trouble: string | null }) {
  return (
    <main class="sign-in">
      <h1>coppice</h1>
      {trouble !== null && <p role="alert">You were not signed in: {trouble}.</p>}
      <p>
        This browser is not signed in. In a terminal on the machine of the server, run{' '}
        <code>coppice web</code> and open the link that it prints.
      </p>
    </main>
  );
}

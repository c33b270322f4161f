import { useEffect, useState } from 'preact/hooks';

/** Whether the page is being printed: what is drawn or listed only where it is in view is then there as a whole. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const tell = ({ type }: Event) => setPrinting(type === 'beforeprint');
    const moments = ['beforeprint', 'afterprint'];
    for (const moment of moments) window.addEventListener(moment, tell);
    return () => {
      for (const moment of moments) window.removeEventListener(moment, tell);
    };
  }, []);
  return printing;
}

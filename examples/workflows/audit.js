export const meta = {
  name: 'audit',
  description: 'Looks for faults in files; two refuters try to disprove each',
  phases: [{ title: 'Find' }, { title: 'Refute' }],
};

const FAULTS = {
  type: 'object',
  required: ['faults'],
  properties: { faults: { type: 'array', items: { type: 'string' } } },
};
const VERDICT = { type: 'object', required: ['refuted'], properties: { refuted: { type: 'boolean' } } };

const audited = await pipeline(
  args?.files ?? ['src/main.js'],
  (file) => agent(`Find faults in ${file}.`, { label: file, phase: 'Find', schema: FAULTS }),
  (found, file) =>
    parallel(
      (found?.faults ?? []).map((fault) => async () => {
        const verdicts = await parallel(
          ['by reading', 'by running it'].map(
            (how) => () =>
              agent(`Refute this ${how}: ${fault} (in ${file}).`, { phase: 'Refute', schema: VERDICT }),
          ),
        );
        // A refuter that failed has refuted nothing.
        const answered = verdicts.filter(Boolean);
        return { file, fault, stands: answered.length > 0 && answered.every(({ refuted }) => !refuted) };
      }),
    ),
);
return audited.flat().filter((one) => one?.stands);

/** True in `npm run test:deep`, where repetitions run in full. A test file that imports this is part of that command. */
export const DEEP = process.env.COPPICE_TEST_DEEP === '1';

/** In `npm run test:deep`: what repeats itself does so in full. A test file that imports this runs there. */
export const DEEP = process.env.COPPICE_TEST_DEEP === '1';

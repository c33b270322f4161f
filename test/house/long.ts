/** In `npm run test:long`: what repeats itself does so in full. A test file that imports this runs there again. */
export const LONG = process.env.COPPICE_TEST_LONG === '1';

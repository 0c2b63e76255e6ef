/** Larger bodies are refused before they are read to the end. */
export const MAX_BODY_BYTES = 64 * 1024

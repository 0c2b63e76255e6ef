import type { Scope } from '../scope.ts'

/** The scope of what a test stores by itself, while nobody else writes the same. */
export const TEST_SCOPE: Scope = { name: 'schema' }

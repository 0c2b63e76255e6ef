export * from './artifact.ts'
export * from './deployment.ts'
export * from './diamond.ts'

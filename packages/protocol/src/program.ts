// The part of the protocol that a program needs before it does anything: settings, their names and its life. Nothing
// here loads the schemas or the ABI.

export * from './program/nearestName.ts'
export * from './program/runProgram.ts'
export * from './program/settingKinds.ts'
export * from './program/settings.ts'

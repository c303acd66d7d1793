export type { Installation } from './installation.ts'
export { openInstallation } from './installation.ts'
export type { AgentProcess, ProcessName, System, SystemOptions } from './system.ts'
export { bootSystem } from './system.ts'

/** The address of the console in tests. No process listens there. */
export const consoleUrl = 'http://localhost:8000'

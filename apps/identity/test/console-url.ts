/** Where tests say that the console is. Nothing listens there. */
export const consoleUrl = 'http://localhost:8000'

export const pullScope = (name: string) => `repository:${name}:pull`
export const encodePath = (name: string) => name.split('/').map(encodeURIComponent).join('/')

export { acceptedOrigins, type Config, isLoopbackOnly, localUrl, loopbackNames, readConfig } from './config.ts'

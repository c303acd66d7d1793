export { type Cipher, createCipher, generateKey, type SecretLocation } from './cipher.ts'

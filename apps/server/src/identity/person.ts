export type Person = { id: string; name: string; email: string }
/** `recoveredAt`: when the account was last recovered. Our identity service reports it, Ory Kratos does not. */
export type ActivePerson = Person & { recoveredAt?: Date | undefined }
export type Credential = { kind: 'cookie' | 'token'; value: string }

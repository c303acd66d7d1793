/** The `password` of users.ts, as other systems store it. */
export const importedPasswords: Record<string, string> = {
  argon2id: '$argon2id$v=19$m=64,t=1,p=1$YSBzYWx0IG9mIDE2IGIuLg$QC99sdP8CBmrDqlQcTr1jmnJbYxfZobo7u493x5EZiI',
  argon2i: '$argon2i$v=19$m=64,t=2,p=1$YSBzYWx0IG9mIDE2IGIuLg$QLifpNkIVzEiRtFbtPzpjYrqyWJF3s7Ef6qclyur24c',
  bcrypt: '$2y$05$2DYX1nLKIZ.z85f0LA98uut026nt0VtqiLHZKjo.SvYbgn7rrrWja',
  'bcrypt of another origin': '$2a$05$2DYX1nLKIZ.z85f0LA98uut026nt0VtqiLHZKjo.SvYbgn7rrrWja',
  'pbkdf2 and sha256': '$pbkdf2-sha256$i=1000,l=32$YSBzYWx0IG9mIDE2IGIuLg$pr6UZDJcQLgpFecnAUVJd+Wgu0U/wh6MG7aNwysR38A',
  'pbkdf2 and sha512': '$pbkdf2-sha512$i=1000,l=32$YSBzYWx0IG9mIDE2IGIuLg$YSPZcwxb7YolCVhAypvQXQnlQf9lcwVrYpc2sJAkg7c',
  scrypt: '$scrypt$ln=1024,r=8,p=1$YSBzYWx0IG9mIDE2IGIuLg==$VdOufYKq7XQG0Ij4XVqn8babGD7qFn64Htf741/Ygqs=',
  SSHA: '{SSHA}olpx3QJ3A17xRJE1uY45lRIo7RFhIHNhbHQgb2YgMTYgYi4u',
  SSHA256: '{SSHA256}rHKPh97GZy5EurRdujJULVpn2qw0+n5x9DgvL121zANhIHNhbHQgb2YgMTYgYi4u',
  SSHA512:
    '{SSHA512}duqqdgVFywIXwOwBRqPrWI0uvgPxpiI9dZG4euim580YhRYR7K0XsDHsCj6JqwyVQI4P4GW0cUq3BxFJJx9okWEgc2FsdCBvZiAxNiBiLi4=',
}

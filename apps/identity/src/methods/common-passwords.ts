/**
 * The most used passwords of at least eight characters in the leaks of the last years, and common initial passwords of administrators. Attackers try
 * these first. The check needs no network.
 */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  !qaz2wsx 00000000 000000000 0000000000 0123456789 11111111 111111111 1111111111 11223344 1122334455 12121212
  123123123 123321123 12341234 12345678 123456789 1234567890 12345678910 1234qwer 123654789 147258369 159753456
  1a2b3c4d 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx 1qazxsw2 22222222 31415926 33333333 55555555 66666666
  741852963 77777777 789456123 87654321 88888888 987654321 9876543210 99999999 999999999 a1234567 a12345678
  a123456789 a1b2c3d4 aa123456 aaaaaaaa abc12345 abc123456 abcd1234 abcdefg1 abcdefgh abcdefghi abcdefghij
  access14 admin123 admin1234 adminadmin administrador administrator asd12345 asdf1234 asdfasdf asdfghjk asdfghjkl
  asshole1 autumn2024 azerty123 azertyuiop baseball baseball1 basketball batman123 bismillah blink182 business
  butterfly changeit changeme changeme1 changeme123 charlie1 chocolate cjmasterinf company123 computer computer1
  contraseña correcthorsebatterystaple corvette danielle december default1 docker123 dragon123 einstein elephant
  facebook flower123 football football1 forever1 freedom1 fuckyou1 fuckyou2 garfield ginger123 google123 guest123
  gwerty123 hallo123 hallo1234 haslo123 hello123 hello1234 hellohelloworld heslo123 hunter123 hunter22
  iloveyou iloveyou! iloveyou1 iloveyou2 internet jelszo123 jelszó123 jennifer jessica1 jordan23 killer123
  kubernetes letmein! letmein1 letmein123 linkedin liverpool liverpool1 lovelove loveme123 manchester marlboro
  master123 masterkey maverick mercedes metallica michael1 microsoft midnight minecraft monkey123 motdepasse
  mountain mustang1 myspace1 nicholas nothing1 november october1 p@$$w0rd p@ssw0rd p@ssword pa55w0rd pa55word
  parola123 passport passw0rd password password! password1 password1! password12 password123 password1234
  password2023 password2024 password2025 password2026 passwort passwort1 passwort123 pepper123 photoshop platinum
  pokemon1 porsche911 precious princess princess1 q1w2e3r4 q1w2e3r4t5 qazwsxedc qwe12345 qweasd123 qweasdzxc
  qweqweqwe qwer1234 qwerty12 qwerty123 qwerty1234 qwerty12345 qwerty123456 qwertyui qwertyuiop qwertz123 qwertzui
  qwertzuiop raiders1 rangers1 redskins rocknroll root1234 rootroot samantha samsung1 samsung123 scorpion
  secret123 secretsecret senha123 september shadow123 slipknot snowball softball sommer2023 spiderman spring2024
  starwars steelers strawberry summer2023 summer2024 summer2025 sunshine sunshine1 superman superman1 swordfish
  test1234 test12345 testing1 testing123 testtest thomas123 thunder1 toor1234 topsecret trustno1 trustno1!
  victoria welcome! welcome1 welcome12 welcome123 whatever winter2023 winter2024 winter2025 wwwwwwww xxxxxxxx
  yankees1 yxcvbnm1 zaq12wsx zaq1@wsx zaq1zaq1 zxcvbnm1 zxcvbnm123 zxcvzxcv zzzzzzzz
  `
    .trim()
    .split(/\s+/),
)

/** The words that most leaked passwords consist of, followed by a number or a sign. Attackers find a password of one such word within minutes. */
export const commonWords: ReadonlySet<string> = new Set(
  `
  abc abcd access admin administrator adobe alexander amanda andrea andrew angel anthony apple april arsenal asdf
  asdfgh ashley august austin autumn azerty babygirl bailey banana barcelona baseball basketball batman benjamin buster
  butterfly changeme charlie chelsea cheese chocolate computer cookie corvette crux dallas daniel database december
  default demo diamond docker dragon elephant fall february flower football freedom friday friends ginger google guest
  hannah harley hello hockey hunter iloveyou jackson jasmine jennifer jessica jesus jordan joshua july june junior
  justin killer kitty lakers letmein liverpool login london love loveme lovely maggie manager march marina martin master
  matthew maverick melissa mercedes merlin michael michelle monday monkey monster morgan mother mustang mypassword
  mysecret naruto nicholas nicole november oceans october oracle orange pass passw0rd passwd password passwort patrick
  peanut pepper phoenix pokemon postgres princess private purple qazwsx qwerty qwertyuiop qwertz rachel ranger robert
  root samantha samsung saturday scooter secret secure september server shadow silver slipknot snoopy soccer softball
  spring starwars steelers summer sunday sunshine superman superuser support sysadmin system taylor temp tennis test
  testing thomas thunder thursday tiger tigger toor trustno tuesday user victoria wednesday welcome whatever william
  winter wizard xbox yamaha yankees yellow
  `
    .trim()
    .split(/\s+/),
)

DROP TABLE "crux"."user_preference";

"""Questions put to an implementation; this code runs beside student code and knows no answer."""

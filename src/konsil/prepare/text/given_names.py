"""Common given names in English- and German-speaking countries, and of people who moved there.

The list helps to see a person in a question; it is short beside the names that there are, and a
name that is not on it is seen only by its surroundings. Names that are words as well (Mark, Rose,
Frank, May, Iris, Max) are not on it.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GIVEN_NAMES = _words("""
    Aaron Abigail Abdul Adam Adrian Agnes Ahmad Ahmed Aisha Alan Albert Alejandra Alejandro
    Alessandro Alex Alexander Alexandra Alfred Ali Alice Alicia Alina Alison Alma Amanda Amelie
    Amina Amir Amy Ana Andrea Andreas Andrew Angela Angelika Anita Anja Anke Anna Anne Annelie
    Annette Anthony Antje Anton Antonia Antonio Armin Arthur Astrid Aylin Ayse Barbara Bastian Beate
    Beatrice Ben Benedikt Benjamin Bernd Bernhard Bettina Bianca Birgit Birgül Bjarne Bjoern Björn
    Boris Brandon Brian Brigitte Britta Bruno Burkhard Cameron Camilla Carina Carl Carla Carlos
    Carmen Carol Caroline Carolyn Carsten Catherine Cecilia Charles Charlotte Chloe Christa Christel
    Christian Christiane Christina Christine Christoph Christopher Clara Claudia Clemens Connor
    Cornelia Cynthia Dagmar Daniel Daniela Danielle David Deborah Denise Dennis Derek Desmond Detlef
    Diana Diane Diego Dieter Dietmar Dimitri Dirk Dmitri Dominik Donald Donna Dora Doris Dorothea
    Dorothy Douglas Dylan Eberhard Eckhard Edeltraud Edgar Edith Eduardo Edward Edwin Eileen Elaine
    Elena Eleanor Elfriede Elias Elif Elisabeth Elizabeth Elke Ella Ellen Elsa Elvira Emil Emilia
    Emily Emine Emma Emre Erich Erik Erika Erin Erwin Esra Esther Ethan Eugen Eva Evelyn Fabian
    Fatima Fatma Felicitas Felix Fernando Finn Fiona Florian Frances Francesca Francesco Francis
    Francisco Franz Franziska Friederike Friedrich Fritz Gabriel Gabriela Gabriele Gareth Gary Georg
    George Gerald Gerda Gerhard Gerlinde Gertrud Giovanni Gisela Giulia Gloria Gregor Gregory Greta
    Gudrun Guido Guillermo Gunther Gustav Günter Günther Hakan Hanna Hannah Hannelore Hannes Hans
    Harald Harold Harriet Hasan Hassan Hatice Heather Hedwig Heidi Heike Heiko Heiner Heinrich Heinz
    Helen Helena Helene Helga Helmut Henning Henri Henry Herbert Hermann Herta Hilda Hilde Hildegard
    Holger Horst Howard Hubert Hugo Ian Ibrahim Ida Ilona Ilse Imran Ines Inge Ingeborg Ingo Ingrid
    Inés Irene Irina Irma Irmgard Isaac Isabel Isabella Isabelle Ismail Ivan Jacob Jacqueline Jakob
    James Jana Jane Janet Janice Janine Jannik Jason Javier Jean Jeffrey Jens Jennifer Jeremy
    Jessica Jesus Joachim Joan Joanna Joanne Johann Johanna Johannes John Jonas Jonathan Jordan
    Jorge Josef Josefine Joseph Joshua Joyce Juan Judith Judy Julia Julian Juliane Julie Julius
    Justin Jutta Jörg Jürgen Kai Karen Karin Karina Karl Karla Karolina Karsten Katarina Katharina
    Katherine Kathleen Kathrin Kathryn Katja Katrin Keith Kelly Kenneth Kerstin Kevin Kimberly Klara
    Klaus Konrad Konstantin Kristin Kristina Kurt Kyle Lara Larissa Lars Larry Latoya Laura Lauren
    Lea Leah Lena Leni Leonard Leonhard Leonie Leroy Leyla Lieselotte Lilli Linda Lina Lisa Liam
    Logan Lorenz Louis Louise Luca Lucas Lucia Lucy Ludwig Luis Luisa Luise Lukas Lydia Lynn
    Magdalena Malte Manfred Manuel Manuela Marc Marcel Marco Marcus Margaret Margarete Margit Margot
    Maria Mariam Marianne Mariana Marie Marilyn Marina Mario Marion Markus Marlene Marlies Martha
    Martin Martina Mary Mathias Mathilda Mathilde Matthew Matthias Mattis Maureen Maurice Maximilian
    Megan Mehmet Melanie Melissa Meike Merle Mia Michael Michaela Michelle Miguel Mila Milan Minh
    Miriam Mohamed Mohammad Mohammed Moira Monica Monika Moritz Muhammad Murat Mustafa Nadine Nadja
    Nancy Natalia Natalie Natascha Nathan Nele Nicholas Nico Nicola Nicole Niels Nigel Nikolaus Nils
    Nina Noah Noel Nora Norbert Norman Olaf Oleg Olga Oliver Olivia Omar Oskar Oscar Otto Pamela
    Pascal Patricia Patrick Patrizia Paul Paula Pauline Pavel Pedro Peter Petra Philip Philipp
    Phyllis Pia Pierre Priya Priyanka Rachel Rafael Raimund Rainer Raj Rajesh Ralf Ralph Ramona
    Raphael Raymond Rebecca Regina Reinhard Reinhold Renate Richard Ricardo Rita Robert Roberto
    Robin Roger Roland Rolf Roman Ronald Ronja Rosalinde Rosemarie Rosemary Rosmarie Rudolf Russell
    Ruth Ryan Sabine Sabrina Sally Samantha Samira Samuel Sandra Sara Sarah Sascha Scott Sean
    Sebastian Selina Sergei Sergej Sharon Sheila Shirley Siegfried Sigrid Silke Silvia Simon Simone
    Sina Sofia Sonja Sophia Sophie Stefan Stefanie Steffen Stella Stephan Stephanie Stephen Steven
    Stuart Susan Susanne Suzanne Sven Svenja Svetlana Sybille Sylvia Tamara Tanja Tatjana Teresa
    Theodor Theresa Thomas Thorsten Tilo Tim Timo Timothy Tina Tobias Tom Tomasz Torben Torsten
    Tracy Trevor Trevon Tristan Tyler Udo Ulrich Ulrike Ursula Ute Uwe Valentina Valerie Vanessa
    Vera Verena Veronika Vincent Virginia Vivian Vladimir Volker Walter Waltraud Wanda Wayne Wendy
    Werner Wiebke Wilfried Wilhelm William Willi Wolfgang Xaver Yasmin Yusuf Yvonne Zachary Zeynep
    Zoe
    """)
"""Given names, written as they are."""

ORDINARY_WORDS = _words("""
    Parkinson Crohn Alzheimer Hodgkin Wilson Graves Cushing Addison Marfan Raynaud Down Turner
    Basedow Hashimoto Paget Lynch Takayasu Kawasaki Sjögren Behçet Behcet Kaposi Barrett Mallory
    Ludwig Reiter Still Wegener Bechterew Menière Meniere Mitte Anfang Ende Mit Und Unter Nach Vor
    Bei Zur Zum Ohne Seit Von Hat Ist Was Wie The This That With Who When Which What Is Are Has Had
    Does Do Should Can Could May Will How Why On In At For From After Before Since And But Or Not No
    If He She It They We You Her His Their My Our Any All Also Now New Then There Here Please Thanks
    Best Good Given Under Reddy Joseph Mary Google Oetker Practitioner Health Medicine Care Patient
    Patienten Patientin Kind Kinder Junge Mädchen Säugling Mann Frau Männer Frauen Mutter Vater
    Schwester Bruder Sohn Tochter Menge Mengen Dosis Dosen Male Female Man Woman Boy Girl Child
    Infant Doctor Nurse Arzt Ärztin Ärzte Herr Dame Diabetes Typ Type Zustand Verdacht Therapie
    Alter Jahre Anamnese Krebs Wunde Kopf Herz Leber Niere Lunge Alle Beide Rentner Rentnerin
    Student Studentin Lehrer Lehrerin Raucher Diabetiker Women Men Children Adults Europe Asia
    Africa America North South East West Western Eastern Northern Southern Central Europa Asien
    Afrika Amerika Germany Austria Switzerland France Italy Spain Portugal Poland Turkey Greece
    Romania Bulgaria Hungary Ukraine Russia India Pakistan Bangladesh China Japan Korea Thailand
    Vietnam Indonesia Philippines Malaysia Nepal Iran Iraq Syria Lebanon Israel Egypt Morocco
    Tunisia Algeria Libya Nigeria Ghana Kenya Ethiopia Eritrea Somalia Uganda Tanzania Cameroon
    Senegal Congo Sudan Mexico Brazil Argentina Chile Peru Colombia Ecuador Venezuela Cuba Haiti
    Canada Australia Afghanistan England Scotland Wales Ireland Norway Sweden Denmark Finland
    Iceland Netherlands Belgium Deutschland Österreich Schweiz Frankreich Italien Spanien Polen
    Türkei Griechenland Rumänien Bulgarien Ungarn Russland Indien Syrien Ägypten Marokko Tunesien
    Äthiopien Mexiko Brasilien Kanada Australien Norwegen Schweden Dänemark Belgien Niederlande
    United States Staaten Kaiser Mayo Cleveland University Universität Children General Day Teaching
    Community Veterans Public Wochenende Abend Hospiz Klinik Praxis Station Haus Ausland Heim
    Pflegeheim Ambulanz Notaufnahme Reha Narkose Intensivstation Monday Tuesday Wednesday Thursday
    Friday Saturday Sunday Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag
    """)
"""Words with a capital that are no name of a person or a small place: eponyms, countries, how
sentences begin."""
